package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/width"

	"zeroclaw/permissions"
)

// oneLine is a text of others on one line: what has no shape of its own, line
// ends included, is an escape.
func oneLine(s string) string {
	// The mark of bytes that are no UTF-8 has a shape; it stays as it came.
	parts := strings.Split(s, "\ufffd")
	for i, p := range parts {
		parts[i] = permissions.Visible(p)
	}
	return strings.Join(parts, "\ufffd")
}

// words is a text of others as running words on one line.
func words(s string) string { return oneLine(strings.Join(strings.Fields(s), " ")) }

// manyLines is a text of others whose line ends and tabs stay; whatever else
// could move the cursor or hide something is an escape.
func manyLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		cells := strings.Split(l, "\t")
		for j, c := range cells {
			cells[j] = oneLine(c)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// readable are characters that encoders escape for the sake of HTML.
var readable = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// plainJSON writes what a terminal would not show inside JSON as \u escapes.
// The value stays the same: outside strings JSON holds no such characters.
func plainJSON(raw []byte) string {
	var b strings.Builder
	for _, r := range readable.Replace(string(raw)) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < ' ': // between values; within them JSON escapes it
			b.WriteByte(' ')
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// pretty is a JSON value over several lines, with all of it visible.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return manyLines(string(raw))
	}
	return plainJSON(b.Bytes())
}

// indent puts a prefix before every line.
func indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}

// columns is how many cells of a terminal a text takes up.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to at most n cells.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += cells(r); used > n-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// compact is a JSON value on one line, with all of it visible.
func compact(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return "", err
	}
	return plainJSON(b.Bytes()), nil
}
