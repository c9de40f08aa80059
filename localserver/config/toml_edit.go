package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// splice replaces the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

// editor changes one document step by step. Every step splices bytes and reads
// the result anew, so that places are always true; finish compares what the
// text says in the end with what was asked for.
type editor struct {
	*document
}

// set makes the value at path v and returns the new text. Missing tables on
// the way are made where a person would look for them: a key at the end of its
// table, a table at the end of the file or of its [[element]]. A step of the
// path that is the length of an array adds an element.
func (d *document) set(path []any, v any) ([]byte, error) {
	e := &editor{d}
	if err := e.put(path, v); err != nil {
		return nil, err
	}
	return e.finish(d, path, func(root any) any { return setPlain(root, path, v) })
}

// unset removes what stands at path: a key with its line, a table with all its
// sections, an element. Nothing there is no error.
func (d *document) unset(path []any) ([]byte, error) {
	e := &editor{d}
	if err := e.cut(path); err != nil {
		return nil, err
	}
	n, depth := d.walk(path)
	// The last [[element]] takes the array along; brackets stay.
	drop := depth == len(path) && n.parent != nil && n.parent.kind == tablesNode
	return e.finish(d, path, func(root any) any { return unsetPlain(root, path, drop) })
}

// finish checks the outcome against the same change made to the plain values.
// A difference would be a mistake of ours; the file is then better left alone.
func (e *editor) finish(before *document, path []any, change func(any) any) ([]byte, error) {
	want := change(before.root.plain())
	if !same(prune(e.root.plain()), prune(want)) {
		return nil, fmt.Errorf("changing %s in place would change something else as well; edit the file by hand", renderKeys(path))
	}
	return e.data, nil
}

// apply splices and reads the text anew. Splices may come in any order but
// must not overlap.
func (e *editor) apply(splices ...splice) error {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(out, e.data[at:s.start]...)
		out = append(out, s.text...)
		at = s.end
	}
	out = append(out, e.data[at:]...)
	d, err := parse(out)
	if err != nil {
		return fmt.Errorf("the changed file would not be valid (%w); edit it by hand", err)
	}
	e.document = d
	return nil
}

// put is set without the check.
func (e *editor) put(path []any, v any) error {
	n, depth := e.walk(path)
	if depth < len(path) {
		return e.insert(n, path, depth, v)
	}
	if same(n.plain(), v) {
		return nil
	}
	switch list, isList := v.([]any); {
	case n.kind == tableNode:
		if m, ok := v.(map[string]any); ok {
			return e.putTable(n, path, m)
		}
	case n.kind == arrayNode && isList:
		text, err := e.renderArray(n, list)
		if err != nil {
			return err
		}
		return e.apply(splice{n.start, n.end, text})
	case n.kind == tablesNode && isList:
		return e.putTables(n, path, list)
	}
	if n.parent != nil && n.parent.kind == tablesNode {
		return fmt.Errorf("%s holds tables; %s cannot stand among them", renderKeys(path), describe(v))
	}
	if n.kind == tableNode && n.from != byInline || n.kind == tablesNode {
		if err := e.cut(path); err != nil {
			return err
		}
		return e.put(path, v)
	}
	text, err := renderValue(v)
	if err != nil {
		return err
	}
	if s, ok := v.(string); ok {
		text = renderLike(e.data[n.start:n.end], s)
	}
	return e.apply(splice{n.start, n.end, text})
}

// putTable makes a table hold exactly m.
func (e *editor) putTable(n *node, path []any, m map[string]any) error {
	for _, k := range slices.Clone(n.keys) {
		if _, keep := m[k]; !keep {
			if err := e.cut(join(path, k)); err != nil {
				return err
			}
		}
	}
	for _, k := range sortedKeys(m) {
		if err := e.put(join(path, k), m[k]); err != nil {
			return err
		}
	}
	return nil
}

// putTables makes an array of tables hold exactly list.
func (e *editor) putTables(n *node, path []any, list []any) error {
	for _, v := range list {
		if _, ok := v.(map[string]any); !ok {
			return fmt.Errorf("%s is written as [[%s]] in the file and can hold only tables", renderKeys(path), renderKeys(path))
		}
	}
	for i := len(n.elems) - 1; i >= len(list); i-- {
		if err := e.cut(join(path, i)); err != nil {
			return err
		}
	}
	for i, v := range list {
		if err := e.put(join(path, i), v); err != nil {
			return err
		}
	}
	return nil
}

// join appends a step without sharing memory.
func join(path []any, step ...any) []any { return append(slices.Clip(path), step...) }

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

// lineStart is the offset of the line that at lies in.
func lineStart(data []byte, at int) int {
	if at <= 0 {
		return 0
	}
	return bytes.LastIndexByte(data[:at], '\n') + 1
}

// lineEnd is the offset behind the newline of the line that begins at at.
func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
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

// newline is the line ending in use around offset at, or in the file at all.
func (e *editor) newline(at int) string {
	before := e.data[:at]
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		if i > 0 && before[i-1] == '\r' {
			return "\r\n"
		}
		return "\n"
	}
	if i := bytes.IndexByte(e.data, '\n'); i > 0 && e.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// setPlain makes the change of set on plain values.
func setPlain(root any, path []any, v any) any {
	if len(path) == 0 {
		return v
	}
	switch step := path[0].(type) {
	case int:
		list, _ := root.([]any)
		list = slices.Clone(list)
		if step >= len(list) {
			return append(list, setPlain(nil, path[1:], v))
		}
		list[step] = setPlain(list[step], path[1:], v)
		return list
	default:
		m, _ := root.(map[string]any)
		out := make(map[string]any, len(m)+1)
		for k, kid := range m {
			out[k] = kid
		}
		key := step.(string)
		out[key] = setPlain(m[key], path[1:], v)
		return out
	}
}

// unsetPlain makes the change of unset on plain values; drop says that an array
// that becomes empty goes too.
func unsetPlain(root any, path []any, drop bool) any {
	switch step := path[0].(type) {
	case int:
		list, ok := root.([]any)
		if !ok || step >= len(list) {
			return root
		}
		list = slices.Clone(list)
		if len(path) == 1 {
			list = slices.Delete(list, step, step+1)
			if len(list) == 0 && drop {
				return nil
			}
			return list
		}
		list[step] = unsetPlain(list[step], path[1:], drop)
		return list
	default:
		m, ok := root.(map[string]any)
		key := step.(string)
		if _, has := m[key]; !ok || !has {
			return root
		}
		out := make(map[string]any, len(m))
		for k, kid := range m {
			out[k] = kid
		}
		if len(path) == 1 {
			delete(out, key)
			return out
		}
		if kid := unsetPlain(m[key], path[1:], drop); kid == nil {
			delete(out, key)
		} else {
			out[key] = kid
		}
		return out
	}
}

// describe names a kind of value for people.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a decimal number"
	case dateTime:
		return "a date or time"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", v), "config.")
	}
}
