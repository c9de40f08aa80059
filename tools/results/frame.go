package results

import (
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"zeroclaw/tools"
)

// Frame wraps text as untrusted data. The closing tag carries a random
// boundary that text written beforehand cannot hold.
func (f *Finisher) Frame(tag, server, tool, text string) string {
	if server == "" {
		server = "local"
	}
	id := f.boundary()
	return fmt.Sprintf("<%s server=%q tool=%q trust=\"untrusted-external\" boundary=%q>\n%s\n</%s boundary=%q>", tag, server, tool, id, text, tag, id)
}

func (f *Finisher) boundary() string {
	b := make([]byte, 10)
	if _, err := io.ReadFull(f.config.Rand, b); err != nil {
		panic("results: no randomness for a boundary: " + err.Error())
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(b))
}

// preview stores a text that is too long for a model and returns its first and
// last part with a note on how to read the rest.
func (f *Finisher) preview(ctx context.Context, c tools.Call, text string, limit int) (string, string) {
	id, err := f.config.Objects.Put(ctx, c.Owner(), "text/plain; charset=utf-8", []byte(text))
	rest := fmt.Sprintf("read it with read_tool_result, id %q", id)
	if err != nil {
		rest = "it could not be stored: " + err.Error()
	}
	head, tail := limit*3/4, limit/4
	cut := Head(text, head)
	end := Tail(text, tail)
	return fmt.Sprintf("%s\n[… %d of %d bytes left out; %s …]\n%s", cut, len(text)-len(cut)-len(end), len(text), rest, end), id
}

// Head returns at most n bytes from the start of s, cut neither inside a rune
// nor, where a line end is near, inside a line.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i > n-n/8-1 && i > 0 {
		n = i
	}
	return s[:n]
}

// Tail returns at most n bytes from the end of s, cut like Head.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - n
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 && i < n/8 {
		from += i + 1
	}
	return s[from:]
}
