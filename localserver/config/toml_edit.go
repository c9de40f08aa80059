package config

import (
	"bytes"
	"fmt"
	"slices"
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
