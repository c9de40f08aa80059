package config

import (
	"slices"
	"strings"
)

// renameKey changes one key on the way to a table or value, in every header
// and every dotted key that has it, and nothing else of the text. A table
// between braces is written anew.
func (d *document) renameKey(path []any, to string) ([]byte, error) {
	n := d.find(path...)
	if n == nil {
		return d.data, nil
	}
	e := &editor{d}
	var splices []splice
	for _, s := range d.stmts {
		above := 0
		if !s.header && s.section >= 0 {
			above = len(names(d.stmts[s.section].node))
		}
		index := len(path) - 1 - above
		keys := d.partsOfKey(s)
		if index < 0 || index >= len(keys) || !slices.Equal(d.keyPath(s, keys, index), path) {
			continue
		}
		splices = append(splices, splice{keys[index].start, keys[index].end, renderKey(to)})
	}
	change := func(root any) any {
		return setPlain(unsetPlain(root, path, false), join(path[:len(path)-1], to), n.plain())
	}
	if len(splices) == 0 {
		return e.rewrite(path, to, change)
	}
	if err := e.apply(splices...); err != nil {
		return nil, err
	}
	return e.finish(d, path, change)
}

// rewrite takes the value out and puts it in under the other key.
func (e *editor) rewrite(path []any, to string, change func(any) any) ([]byte, error) {
	before := e.document
	value := e.find(path...).plain()
	if err := e.cut(path); err != nil {
		return nil, err
	}
	if err := e.put(join(path[:len(path)-1], to), value); err != nil {
		return nil, err
	}
	return e.finish(before, path, change)
}

// names are the keys that lead to a table.
func names(n *node) []any {
	var out []any
	for ; n != nil && n.parent != nil; n = n.parent {
		if n.parent.kind == tableNode {
			out = append(out, n.name)
		}
	}
	slices.Reverse(out)
	return out
}

// keyPart is where one part of a key stands.
type keyPart struct{ start, end int }

// partsOfKey takes the key of a statement apart.
func (d *document) partsOfKey(s stmt) []keyPart {
	at := s.keyStart
	if s.header {
		at++
		if s.array {
			at++
		}
	}
	blank := func() {
		for at < len(d.data) && (d.data[at] == ' ' || d.data[at] == '\t') {
			at++
		}
	}
	var spans []keyPart
	for blank(); at < len(d.data); blank() {
		from := at
		switch c := d.data[at]; c {
		case '"', '\'':
			for at++; at < len(d.data) && d.data[at] != c; at++ {
				if c == '"' && d.data[at] == '\\' {
					at++
				}
			}
			at++
		default:
			for at < len(d.data) && !strings.ContainsRune(" \t.=]\r\n", rune(d.data[at])) {
				at++
			}
		}
		spans = append(spans, keyPart{start: from, end: min(at, len(d.data))})
		if blank(); at >= len(d.data) || d.data[at] != '.' {
			break
		}
		at++
	}
	return spans
}

// keyPath is the path that a statement's key leads to with its part at index.
func (d *document) keyPath(s stmt, keys []keyPart, index int) []any {
	var out []any
	if s.header {
		out = names(s.node)
	} else {
		if s.section >= 0 {
			out = names(d.stmts[s.section].node)
		}
		for _, k := range keys {
			out = append(out, unquoted(string(d.data[k.start:k.end])))
		}
	}
	end := index + 1
	if !s.header && s.section >= 0 {
		end += len(names(d.stmts[s.section].node))
	}
	return out[:min(end, len(out))]
}

// unquoted is the name that a part of a key stands for.
func unquoted(part string) string {
	doc, err := parse([]byte(part + " = 1"))
	if err != nil || len(doc.root.keys) != 1 {
		return part
	}
	return doc.root.keys[0]
}
