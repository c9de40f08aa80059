package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// param is one argument of a tool. The JSON schema that clients see and the
// decoding of a call come from the same table, so they cannot differ.
type param struct {
	name     string
	kind     string // "string", "integer" or "boolean"
	required bool
	min, max int64 // range of an integer; length of a string in bytes, max 0 = unlimited
	def      any   // shown in the schema; nil if there is none
	enum     []string
	about    string
}

type params []param

// schema is the JSON Schema of the arguments.
func (ps params) schema() json.RawMessage {
	type property struct {
		Type        string   `json:"type"`
		Description string   `json:"description"`
		Default     any      `json:"default,omitempty"`
		Enum        []string `json:"enum,omitempty"`
		Minimum     *int64   `json:"minimum,omitempty"`
		Maximum     *int64   `json:"maximum,omitempty"`
		MinLength   int64    `json:"minLength,omitempty"`
		MaxLength   int64    `json:"maxLength,omitempty"`
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		v := property{Type: p.kind, Description: p.about, Default: p.def, Enum: p.enum}
		switch p.kind {
		case "integer":
			v.Minimum, v.Maximum = &p.min, &p.max
		case "string":
			v.MinLength, v.MaxLength = p.min, p.max
		}
		b.Write(marshal(p.name))
		b.WriteByte(':')
		b.Write(marshal(v))
		if p.required {
			required = append(required, p.name)
		}
	}
	b.WriteString(`},"required":`)
	b.Write(marshal(required))
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

// values are the decoded arguments of a call, defaults filled in.
type values map[string]any

func (v values) str(name string) string { s, _ := v[name].(string); return s }
func (v values) num(name string) int64  { n, _ := v[name].(int64); return n }
func (v values) flag(name string) bool  { f, _ := v[name].(bool); return f }
func (v values) given(name string) bool { _, ok := v[name]; return ok }

func (ps params) byName(name string) *param {
	for i := range ps {
		if ps[i].name == name {
			return &ps[i]
		}
	}
	return nil
}

// decode reads the arguments of one call of tool. Errors name the argument and
// what it may be.
func (ps params) decode(tool string, raw json.RawMessage) (values, error) {
	v := values{}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("arguments of %s must be a JSON object", tool)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("arguments of %s are not valid JSON: %w", tool, err)
		}
		name, _ := t.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("arguments of %s are not valid JSON: %w", tool, err)
		}
		p := ps.byName(name)
		if p == nil {
			return nil, fmt.Errorf("%s has no argument %q; it takes %s", tool, name, ps.names())
		}
		if v.given(name) {
			return nil, fmt.Errorf("%s: argument %q is given twice; give it once", tool, name)
		}
		x, err := p.read(value)
		if err != nil {
			return nil, fmt.Errorf("%s: argument %q %w", tool, name, err)
		}
		v[name] = x
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("arguments of %s are not valid JSON: %w", tool, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("arguments of %s must be one JSON object with nothing behind it", tool)
	}
	for _, p := range ps {
		if v.given(p.name) {
			continue
		}
		if p.required {
			return nil, fmt.Errorf("%s needs the argument %q (%s)", tool, p.name, p.kind)
		}
		switch d := p.def.(type) {
		case nil:
		case int:
			v[p.name] = int64(d)
		default:
			v[p.name] = d
		}
	}
	return v, nil
}

func (ps params) names() string {
	var names []string
	for _, p := range ps {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

func (p *param) read(raw json.RawMessage) (any, error) {
	switch p.kind {
	case "boolean":
		switch string(raw) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("must be true or false, not %s", brief(raw))
	case "integer":
		n, ok := integer(raw)
		if !ok {
			return nil, fmt.Errorf("must be a whole number, not %s", brief(raw))
		}
		if n < p.min || n > p.max {
			return nil, fmt.Errorf("must be from %d to %d, not %d", p.min, p.max, n)
		}
		return n, nil
	}
	if raw[0] != '"' {
		return nil, fmt.Errorf("must be a string, not %s", brief(raw))
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("is not a valid JSON string: %w", err)
	}
	// encoding/json turns half a surrogate pair and bad bytes into U+FFFD; that
	// would write something else than the caller sent.
	if strings.Count(s, "\ufffd") != literalReplacements(raw) {
		return nil, fmt.Errorf("holds half of a surrogate pair or bytes that are not UTF-8; send valid Unicode")
	}
	if n := int64(len(s)); n < p.min || p.max > 0 && n > p.max {
		return nil, fmt.Errorf("must have %d to %d bytes, not %d", p.min, p.max, n)
	}
	if len(p.enum) == 0 {
		return s, nil
	}
	for _, e := range p.enum {
		if s == e {
			return s, nil
		}
	}
	return nil, fmt.Errorf("must be one of %s, not %s", strings.Join(p.enum, ", "), brief(raw))
}

// integer accepts what JSON Schema calls an integer: 3 and 3.0, not 3.5.
func integer(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// literalReplacements counts the U+FFFD that a JSON string really spells.
func literalReplacements(raw []byte) int {
	n := bytes.Count(raw, []byte("\ufffd"))
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] == 'u' && i+6 <= len(raw) && bytes.EqualFold(raw[i+2:i+6], []byte("fffd")) {
			n++
		}
		i++
	}
	return n
}

func brief(raw []byte) string {
	if len(raw) <= 60 {
		return string(raw)
	}
	cut := 60
	for cut > 0 && !utf8.RuneStart(raw[cut]) {
		cut--
	}
	return string(raw[:cut]) + "…"
}

// marshal is for values of this package's own types, which cannot fail, and
// keeps <, > and & readable.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("files: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
