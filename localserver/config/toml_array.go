package config

import (
	"bytes"
	"strings"
)

// entry is one element of an array or inline table with the bytes around it: what leads up to
// it, and what follows on its line.
type entry struct {
	lead, raw string
	gap       string // between the element and its comma
	comma     bool
	trail     string // behind the comma, up to the end of the line
	eol       string // the newline behind trail, "" if none
}

// piece is one element of a changed list: an old one by number, or new text.
type piece struct {
	old  int // -1: text
	text string
}

// renderArray writes an array with new elements. Elements that stay keep
// their bytes, line, and comments.
func (e *editor) renderArray(n *node, list []any) (string, error) {
	values := make([]any, len(n.elems))
	spans := make([]span, len(n.elems))
	for i, el := range n.elems {
		values[i], spans[i] = el.plain(), span{el.start, el.end}
	}
	pieces := make([]piece, len(list))
	for i, old := range matches(values, list) {
		pieces[i].old = old
		if old < 0 {
			var err error
			if pieces[i].text, err = renderValue(list[i]); err != nil {
				return "", err
			}
		}
	}
	return e.reassemble(span{n.start, n.end}, spans, pieces), nil
}

// span is a half-open range of bytes.
type span struct{ start, end int }

// reassemble writes the array or inline table that spans all anew, out of old
// elements, which stand at spans, and new ones.
func (e *editor) reassemble(all span, spans []span, pieces []piece) string {
	old, tail := e.entries(all, spans)
	a := arrayWriter{newline: e.newline(all.start), lead: " "}
	for _, o := range old {
		a.wide = a.wide || strings.Contains(o.lead, "\n")
	}
	a.wide = a.wide || len(old) == 0 && strings.Contains(tail, "\n")
	trailing := len(old) > 0 && old[len(old)-1].comma
	if len(old) > 0 && !strings.Contains(old[0].lead, "\n") {
		a.first, a.beside = old[0].lead, true
	}
	if a.wide {
		a.lead = a.newline + "    "
		for _, o := range old {
			if i := strings.LastIndexByte(o.lead, '\n'); i >= 0 {
				a.lead = a.newline + o.lead[i+1:]
				break
			}
		}
		trailing = trailing || len(old) == 0
	}
	a.write(string(e.data[all.start : all.start+1]))
	next := 0
	for i, p := range pieces {
		comma := i < len(pieces)-1 || trailing
		if p.old < 0 {
			a.element(entry{lead: a.leadFor(i), raw: p.text}, comma)
			continue
		}
		for ; next < p.old; next++ {
			a.comments(old[next].lead)
		}
		o := old[p.old]
		next = p.old + 1
		if !strings.Contains(o.lead, "\n") && (i == 0) != (p.old == 0) {
			o.lead = a.leadFor(i)
		}
		a.element(o, comma)
	}
	for ; next < len(old); next++ {
		a.comments(old[next].lead)
	}
	a.write(tail)
	a.write(string(e.data[all.end-1 : all.end]))
	return a.b.String()
}

// entries takes a list apart; tail is what stands before its last bracket.
func (e *editor) entries(all span, spans []span) (list []entry, tail string) {
	at := all.start + 1
	for i, el := range spans {
		next := all.end - 1
		if i+1 < len(spans) {
			next = spans[i+1].start
		}
		o := entry{lead: string(e.data[at:el.start]), raw: string(e.data[el.start:el.end])}
		at = el.end
		if comma := e.commaAfter(el.end); comma >= 0 && comma < next {
			o.comma, o.gap = true, string(e.data[el.end:comma])
			at = comma + 1
		}
		if j := bytes.IndexByte(e.data[at:next], '\n'); j >= 0 {
			line := string(e.data[at : at+j+1])
			o.trail = strings.TrimRight(line, "\r\n")
			o.eol = line[len(o.trail):]
			at += len(o.trail)
		}
		list = append(list, o)
	}
	return list, string(e.data[at : all.end-1])
}

// commaAfter is the offset of the comma that follows a value, -1 if none does.
func (e *editor) commaAfter(at int) int {
	for at < len(e.data) {
		switch e.data[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			i := bytes.IndexByte(e.data[at:], '\n')
			if i < 0 {
				return -1
			}
			at += i
		case ',':
			return at
		default:
			return -1
		}
	}
	return -1
}

// matches says for each new element which old one it is, -1 for none, in
// order: the longest common subsequence, so that as few lines as possible
// change.
func matches(old, list []any) []int {
	keep := make([]int, len(list))
	for i := range keep {
		keep[i] = -1
	}
	from, o, l := 0, len(old), len(list)
	for from < o && from < l && same(old[from], list[from]) {
		keep[from] = from
		from++
	}
	for o > from && l > from && same(old[o-1], list[l-1]) {
		o--
		l--
		keep[l] = o
	}
	rows, cols := o-from, l-from
	// The table below is quadratic; a list changed that much is written anew.
	if rows == 0 || cols == 0 || rows*cols > 1<<20 {
		return keep
	}
	length := make([][]int, rows+1)
	for i := range length {
		length[i] = make([]int, cols+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := cols - 1; j >= 0; j-- {
			if same(old[from+i], list[from+j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < rows && j < cols; {
		switch {
		case same(old[from+i], list[from+j]):
			keep[from+j] = from + i
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return keep
}

// arrayWriter puts an array together again.
type arrayWriter struct {
	b           strings.Builder
	newline     string
	lead, first string // before a new element, before the first one
	wide        bool   // one element a line …
	beside      bool   // … but the first, which stands beside the bracket
	open        bool   // the last line is a comment …
	eol         string // … that this newline ended
}

func (a *arrayWriter) leadFor(i int) string {
	if i == 0 && (!a.wide || a.beside) {
		return a.first
	}
	return a.lead
}

// write adds bytes that are white space, comments or elements, and makes sure
// that nothing ends up inside a comment.
func (a *arrayWriter) write(s string) {
	if s == "" {
		return
	}
	if a.open && !strings.HasPrefix(s, "\n") && !strings.HasPrefix(s, "\r\n") {
		a.b.WriteString(a.eol)
	}
	a.open = false
	a.b.WriteString(s)
}

// trivia is write for the rest of a line, which eol ended, that may be a
// comment.
func (a *arrayWriter) trivia(s, eol string) {
	a.write(s)
	if strings.Contains(s[strings.LastIndexByte(s, '\n')+1:], "#") {
		a.open, a.eol = true, eol
	}
}

func (a *arrayWriter) element(o entry, comma bool) {
	a.write(o.lead)
	a.write(o.raw)
	a.write(o.gap)
	if comma {
		a.write(",")
	}
	a.trivia(o.trail, o.eol)
}

// comments keeps the comment lines above an element that goes.
func (a *arrayWriter) comments(lead string) {
	if strings.Contains(lead, "#") {
		lines := lead[:strings.LastIndexByte(lead, '\n')+1]
		text := strings.TrimRight(lines, "\r\n")
		a.trivia(text, lines[len(text):])
	}
}
