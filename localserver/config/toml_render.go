package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// renderKey writes one part of a key, quoted only where it must be.
func renderKey(key string) string {
	bare := key != ""
	for i := range len(key) {
		c := key[i]
		bare = bare && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if bare {
		return key
	}
	return renderString(key)
}

// renderKeys writes a dotted key; places in arrays take no part in it.
func renderKeys(path []any) string {
	var parts []string
	for _, step := range path {
		if key, ok := step.(string); ok {
			parts = append(parts, renderKey(key))
		}
	}
	return strings.Join(parts, ".")
}

// renderString writes a basic string (TOML 1.0, "String").
func renderString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\b':
			b.WriteString(`\b`)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\f':
			b.WriteString(`\f`)
		case '\r':
			b.WriteString(`\r`)
		default:
			if r < 0x20 || r == 0x7f {
				fmt.Fprintf(&b, `\u%04X`, r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// renderLike writes a string with the quotes of the old one where they can
// hold it.
func renderLike(old []byte, s string) string {
	single := len(old) > 1 && old[0] == '\'' && !strings.HasPrefix(string(old), "'''")
	if !single || strings.Contains(s, "'") {
		return renderString(s)
	}
	for _, r := range s {
		if r < 0x20 && r != '\t' || r == 0x7f {
			return renderString(s)
		}
	}
	return "'" + s + "'"
}

// renderValue writes a value on one line. Keys of a map come sorted.
func renderValue(v any) (string, error) {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return "", fmt.Errorf("the text is not valid UTF-8")
		}
		return renderString(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return renderFloat(v), nil
	case dateTime:
		return string(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			s, err := renderValue(e)
			if err != nil {
				return "", err
			}
			parts[i] = s
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		if len(v) == 0 {
			return "{}", nil
		}
		var parts []string
		for _, k := range sortedKeys(v) {
			s, err := renderValue(v[k])
			if err != nil {
				return "", err
			}
			parts = append(parts, renderKey(k)+" = "+s)
		}
		return "{ " + strings.Join(parts, ", ") + " }", nil
	}
	return "", fmt.Errorf("a value of type %T cannot be written to the file", v)
}

func renderFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
