package config

import (
	"bytes"
	"slices"
)

// cut is unset without the check.
func (e *editor) cut(path []any) error {
	n, depth := e.walk(path)
	if depth < len(path) || n.parent == nil {
		return nil
	}
	if n.parent.kind == arrayNode {
		list := n.parent.plain().([]any)
		text, err := e.renderArray(n.parent, slices.Delete(list, n.index, n.index+1))
		if err != nil {
			return err
		}
		return e.apply(splice{n.parent.start, n.parent.end, text})
	}
	if t := inlineAbove(n); t != nil {
		return e.apply(e.cutMembers(t, n))
	}
	return e.cutStatements(n)
}

// inlineAbove is the nearest inline table that n is a member of, by dots or
// directly; nil when a statement of its own gave n its value.
func inlineAbove(n *node) *node {
	for p := n.parent; p != nil; p = p.parent {
		switch {
		case p.kind != tableNode:
			return nil
		case p.from == byInline:
			return p
		case p.from != byDots:
			return nil
		}
	}
	return nil
}

// under reports whether n is top or below it.
func under(n, top *node) bool {
	for ; n != nil; n = n.parent {
		if n == top {
			return true
		}
	}
	return false
}

// cutMembers takes the values under gone out of an inline table.
func (e *editor) cutMembers(t, gone *node) splice {
	var pieces []piece
	for i, m := range t.members {
		if !under(m, gone) {
			pieces = append(pieces, piece{old: i})
		}
	}
	return splice{t.start, t.end, e.reassemble(span{t.start, t.end}, memberSpans(t), pieces)}
}

// memberSpans is where the members of an inline table stand.
func memberSpans(t *node) []span {
	spans := make([]span, len(t.members))
	for i, m := range t.members {
		spans[i] = span{m.kvStart, m.kvEnd}
	}
	return spans
}

// cutStatements removes every header and line that n is made of. Comments
// inside a removed section go with it; those that stand apart from it stay.
func (e *editor) cutStatements(n *node) error {
	var out []splice
	for i := 0; i < len(e.stmts); i++ {
		s := e.stmts[i]
		if !under(s.node, n) {
			continue
		}
		end := s.end
		if s.header {
			for i+1 < len(e.stmts) && !e.stmts[i+1].header {
				i++
			}
			end = e.blanksAfter(e.tail(i))
		}
		out = append(out, splice{s.start, end, ""})
	}
	out = mergeCuts(out)
	if len(out) > 0 {
		last := &out[len(out)-1]
		if last.end == len(e.data) && last.start > e.bom {
			e.trimEnd(last)
		}
	}
	return e.apply(out...)
}

// mergeCuts joins cuts that touch.
func mergeCuts(cuts []splice) []splice {
	var out []splice
	for _, c := range cuts {
		if n := len(out); n > 0 && c.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, c.end)
			continue
		}
		out = append(out, c)
	}
	return out
}

// trimEnd widens a cut that reaches the end of the file, so that the file
// ends as it did: no blank lines left over where a section went, and no final
// newline where there was none.
func (e *editor) trimEnd(c *splice) {
	header := e.data[c.start] == '['
	if header {
		for {
			prev := lineStart(e.data, c.start-1)
			if prev >= c.start || prev < e.bom || len(bytes.TrimSpace(e.data[prev:c.start])) > 0 {
				break
			}
			c.start = prev
			if prev == e.bom {
				break
			}
		}
	}
	if !bytes.HasSuffix(e.data, []byte("\n")) && c.start > e.bom && e.data[c.start-1] == '\n' {
		c.start--
		if c.start > e.bom && e.data[c.start-1] == '\r' {
			c.start--
		}
	}
}

// tail is the end of what belongs to statement i: its line and the comment
// lines right below it, unless those run into the next header.
func (e *editor) tail(i int) int {
	end := e.stmts[i].end
	at := end
	for at < len(e.data) && bytes.HasPrefix(bytes.TrimLeft(e.data[at:lineEnd(e.data, at)], " \t"), []byte("#")) {
		at = lineEnd(e.data, at)
	}
	if i+1 < len(e.stmts) && e.stmts[i+1].start == at {
		return end
	}
	return at
}

// blanksAfter steps over blank lines.
func (e *editor) blanksAfter(at int) int {
	for at < len(e.data) && len(bytes.TrimSpace(e.data[at:lineEnd(e.data, at)])) == 0 {
		at = lineEnd(e.data, at)
	}
	return at
}
