package config

import (
	"bytes"
	"fmt"
	"strings"
)

// insert adds path, of which the first depth steps lead to n.
func (e *editor) insert(n *node, path []any, depth int, v any) error {
	rest := path[depth:]
	text, err := renderValue(v)
	if err != nil {
		return err
	}
	switch step := rest[0].(type) {
	case int:
		if n.kind != tablesNode && n.kind != arrayNode {
			return e.inTheWay(n, path[:depth], "a list")
		}
		if step != len(n.elems) {
			return fmt.Errorf("%s has %d entries, so that entry %d cannot be added", renderKeys(path[:depth]), len(n.elems), step)
		}
		if n.kind == arrayNode {
			return e.put(path[:depth], append(n.plain().([]any), nest(rest[1:], v)))
		}
		return e.insertElement(n, path[:depth], nest(rest[1:], v))
	default:
		if n.kind != tableNode {
			return e.inTheWay(n, path[:depth], "a table")
		}
	}
	for i, step := range rest {
		if _, ok := step.(int); ok {
			return e.insertList(n, path, depth, depth+i, v)
		}
	}
	holder, prefix := n, path[:0:0]
	for holder.from == byDots {
		prefix = append([]any{holder.name}, prefix...)
		holder = holder.parent
	}
	switch {
	case holder.from == byInline:
		return e.insertMember(holder, renderKeys(join(prefix, rest...))+" = "+text)
	case holder != n:
		return e.insertLine(holder, n, renderKeys(join(prefix, rest...)), text)
	}
	if m, isTable := v.(map[string]any); isTable {
		return e.insertSections(n, path, m)
	}
	if len(rest) == 1 && n.from == byHeader {
		return e.insertLine(n, nil, renderKeys(rest), text)
	}
	last := len(path) - 1
	return e.insertSections(n, path[:last], map[string]any{path[last].(string): v})
}

// inTheWay is the error for a path that leads through a value.
func (e *editor) inTheWay(n *node, path []any, want string) error {
	line, column := e.place(n)
	return fmt.Errorf("line %d, column %d: %s is %s, but must be %s; repair it by hand", line, column, renderKeys(path), describe(n.plain()), want)
}

// nest wraps v in the tables of path.
func nest(path []any, v any) any {
	for i := len(path) - 1; i >= 0; i-- {
		if key, ok := path[i].(string); ok {
			v = map[string]any{key: v}
		} else {
			v = []any{v}
		}
	}
	return v
}

// insertList adds an array that does not exist yet with its first element; at
// is the step of path that is the place in it.
func (e *editor) insertList(n *node, path []any, depth, at int, v any) error {
	elem := nest(path[at+1:], v)
	m, isTable := elem.(map[string]any)
	if !isTable || n.from == byDots || n.from == byInline {
		return e.insert(n, path[:at], depth, []any{elem})
	}
	return e.appendBlock(e.extentEnd(n), e.renderSections(path[:at], m, true))
}

// insertElement adds one [[element]] behind the last one.
func (e *editor) insertElement(n *node, path []any, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s holds tables; %s cannot be added", renderKeys(path), describe(v))
	}
	last := n.elems[len(n.elems)-1]
	end := 0
	for i, s := range e.stmts {
		if under(s.node, last) {
			end = e.tail(i)
		}
	}
	return e.appendBlock(end, e.renderSections(path, m, true))
}

// insertSections adds the table at path, which does not exist or only as the
// parent of others, with its values.
func (e *editor) insertSections(n *node, path []any, m map[string]any) error {
	return e.appendBlock(e.extentEnd(n), e.renderSections(path, m, false))
}

// extentEnd is where a new section below n belongs: at the end of the file,
// or of the [[element]] that n lies in.
func (e *editor) extentEnd(n *node) int {
	for ; n != nil; n = n.parent {
		if n.parent == nil || n.parent.kind != tablesNode {
			continue
		}
		end := 0
		for i, s := range e.stmts {
			if under(s.node, n) {
				end = e.tail(i)
			}
		}
		return end
	}
	return len(e.data)
}

// renderSections writes a table as a section and its tables as sections of
// their own. Lines end in \n; appendBlock translates.
func (e *editor) renderSections(path []any, m map[string]any, array bool) string {
	var b strings.Builder
	key := renderKeys(path)
	if array {
		fmt.Fprintf(&b, "[[%s]]\n", key)
	} else {
		fmt.Fprintf(&b, "[%s]\n", key)
	}
	var tables []string
	for _, k := range entryOrder(m) {
		if _, ok := m[k].(map[string]any); ok {
			tables = append(tables, k)
			continue
		}
		// A value that cannot be written was refused by insert, which has
		// rendered it first.
		text, _ := renderValue(m[k])
		fmt.Fprintf(&b, "%s = %s\n", renderKey(k), text)
	}
	for _, k := range tables {
		b.WriteString("\n" + e.renderSections(join(path, k), m[k].(map[string]any), false))
	}
	return b.String()
}

// entryOrder sorts keys with the name first, as people write them.
func entryOrder(m map[string]any) []string {
	keys := sortedKeys(m)
	for i, k := range keys {
		if k == "name" {
			copy(keys[1:i+1], keys[:i])
			keys[0] = "name"
		}
	}
	return keys
}

// appendBlock puts whole sections at offset at, with one blank line before
// them and the line endings of the file.
func (e *editor) appendBlock(at int, block string) error {
	return e.apply(e.blockSplice(at, block))
}

func (e *editor) blockSplice(at int, block string) splice {
	nl := e.newline(at)
	text := strings.ReplaceAll(block, "\n", nl)
	atEnd := at == len(e.data)
	before := e.data[e.bom:at]
	switch {
	case len(bytes.TrimSpace(before)) == 0:
	case !bytes.HasSuffix(before, []byte("\n")):
		// The file has no final newline, and keeps having none.
		text = nl + nl + strings.TrimSuffix(text, nl)
	case len(bytes.TrimSpace(before[lineStart(before, len(before)-1):])) > 0:
		text = nl + text
	}
	if !atEnd && len(bytes.TrimSpace(e.data[at:lineEnd(e.data, at)])) > 0 {
		text += nl
	}
	return splice{at, at, text}
}

// insertLine adds a line to the section of the table holder: behind the last
// line that is part of group, or, without a group, behind the last of all.
func (e *editor) insertLine(holder, group *node, key, value string) error {
	s, ok := e.lineSplice(holder, group, key, value)
	if !ok {
		return e.insertFirst(key + " = " + value)
	}
	return e.apply(s)
}

// lineSplice is the change that insertLine makes; false where the table has no
// line to stand behind, not even a header.
func (e *editor) lineSplice(holder, group *node, key, value string) (splice, bool) {
	section, after := holder.header, -1
	for i, s := range e.stmts {
		if !s.header && s.section == section && (group == nil || under(s.node, group)) {
			after = i
		}
	}
	if after < 0 {
		after = section
	}
	if after < 0 {
		return splice{}, false
	}
	s := e.stmts[after]
	indent, equals := "", " = "
	if !s.header {
		indent = string(e.data[s.start:s.keyStart])
		if strings.TrimLeft(indent, " \t") != "" {
			indent = ""
		}
		if between := e.data[s.node.keyEnd:s.node.start]; string(between) == "=" {
			equals = "="
		}
	}
	nl := e.newline(s.end)
	line := indent + key + equals + value
	if bytes.HasSuffix(e.data[:s.end], []byte("\n")) {
		line += nl
	} else {
		line = nl + line
	}
	return splice{s.end, s.end, line}, true
}

// insertFirst adds the first key of the root, which must come before every
// header.
func (e *editor) insertFirst(line string) error {
	if len(e.stmts) == 0 {
		return e.appendLine(line)
	}
	at := e.stmts[0].start
	for at > e.bom {
		prev := lineStart(e.data, at-1)
		prev = max(prev, e.bom)
		if !bytes.HasPrefix(bytes.TrimLeft(e.data[prev:at], " \t"), []byte("#")) {
			break
		}
		at = prev
	}
	nl := e.newline(at)
	return e.apply(splice{at, at, line + nl + nl})
}

// appendLine adds a line to a file that holds nothing but comments.
func (e *editor) appendLine(line string) error {
	nl := e.newline(len(e.data))
	switch {
	case len(e.data) == e.bom, bytes.HasSuffix(e.data, []byte("\n")):
		line += nl
	default:
		line = nl + line
	}
	return e.apply(splice{len(e.data), len(e.data), line})
}

// insertMember adds "key = value" to an inline table.
func (e *editor) insertMember(t *node, kv string) error {
	if inner := e.data[t.start+1 : t.end-1]; len(bytes.Trim(inner, " \t")) == 0 {
		text := " " + kv
		if len(inner) == 0 {
			text += " "
		}
		return e.apply(splice{t.start + 1, t.start + 1, text})
	}
	var pieces []piece
	for i := range t.members {
		pieces = append(pieces, piece{old: i})
	}
	pieces = append(pieces, piece{old: -1, text: kv})
	return e.apply(splice{t.start, t.end, e.reassemble(span{t.start, t.end}, memberSpans(t), pieces)})
}

// addTable makes an empty table at path, unless there is one.
func (d *document) addTable(path []any) ([]byte, error) {
	e := &editor{d}
	n, depth := e.walk(path)
	if depth == len(path) {
		if n.kind != tableNode {
			return nil, e.inTheWay(n, path, "a table")
		}
		return d.data, nil
	}
	if err := e.put(path, map[string]any{}); err != nil {
		return nil, err
	}
	return e.finish(d, path, func(root any) any { return setPlain(root, path, map[string]any{}) })
}
