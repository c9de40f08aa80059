package results

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// parts are the texts of one result for a model, in order, each on a new line.
// They are put together only as far as it is needed.
type parts struct {
	list []string
	size int // of all of it
}

func (p *parts) add(text string) {
	if text == "" {
		return
	}
	if len(p.list) > 0 {
		p.size++
	}
	p.list = append(p.list, text)
	p.size += len(text)
}

func (p parts) join() string { return strings.Join(p.list, "\n") }

func (p parts) reader() io.Reader {
	all := make([]io.Reader, 0, 2*len(p.list))
	for i, one := range p.list {
		if i > 0 {
			all = append(all, strings.NewReader("\n"))
		}
		all = append(all, strings.NewReader(one))
	}
	return io.MultiReader(all...)
}

// first is at least n bytes of the start, if there are as many.
func (p parts) first(n int) string {
	size := 0
	for i, one := range p.list {
		if size += len(one) + 1; size > n {
			if i == 0 {
				return one
			}
			return strings.Join(p.list[:i+1], "\n")
		}
	}
	return p.join()
}

// last is at least n bytes of the end, if there are as many.
func (p parts) last(n int) string {
	size := 0
	for i := len(p.list) - 1; i > 0; i-- {
		if size += len(p.list[i]) + 1; size > n {
			return strings.Join(p.list[i:], "\n")
		}
	}
	if len(p.list) == 1 {
		return p.list[0]
	}
	return p.join()
}

// preview stores a text that is too long for a model and returns its first and
// last part with a note on how to read the rest.
func (f *finishing) preview(text parts, limit int) (string, string) {
	id, err := f.config.Objects.PutFrom(f.ctx, f.call.Owner(), "text/plain; charset=utf-8", text.reader())
	rest := fmt.Sprintf("read it with read_tool_result, id %q", id)
	if err != nil {
		rest = "it could not be stored: " + err.Error()
	}
	head, tail := limit*3/4, limit/4
	cut := Head(text.first(head+nearby), head)
	end := Tail(text.last(tail+nearby), tail)
	return fmt.Sprintf("%s\n[… %d of %d bytes left out; %s …]\n%s", cut, text.size-len(cut)-len(end), text.size, rest, end), id
}

// nearby is how far around a cut a text is looked at.
const nearby = 256

// Head returns at most n bytes from the start of s, cut neither inside a rune
// nor inside base64 nor, where a line end is near, inside a line.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if from, _, ok := base64Around(s, n); ok {
		return s[:from]
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
	if _, to, ok := base64Around(s, from); ok {
		return s[to:]
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 && i < n/8 {
		from += i + 1
	}
	return s[from:]
}

// base64Around tells whether a cut at i would go through base64: a row of its
// characters without a break, long, and of all kinds near the cut.
func base64Around(s string, i int) (from, to int, ok bool) {
	from, to = i, i
	for from > 0 && isBase64(s[from-1]) {
		from--
	}
	for to < len(s) && isBase64(s[to]) {
		to++
	}
	if from == i || to == i || to-from < nearby/2 {
		return 0, 0, false
	}
	near := s[max(from, i-nearby/2):min(to, i+nearby/2)]
	return from, to, strings.ContainsAny(near, "0123456789") &&
		strings.IndexFunc(near, func(r rune) bool { return r >= 'a' && r <= 'z' }) >= 0 &&
		strings.IndexFunc(near, func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0
}

func isBase64(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}
