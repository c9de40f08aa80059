package config

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is the text of a TOML file together with the tree of what it says
// and where each part of it stands. Its text is only ever changed by splicing
// bytes; see set and unset.
type document struct {
	data  []byte // the whole file, byte order mark included
	bom   int    // length of the byte order mark
	stmts []stmt
	root  *node
}

// stmt is one top-level expression: a header or a key with its value. A header
// has its table as node; start and end take in whole lines.
type stmt struct {
	header     bool
	array      bool // [[…]]
	start, end int  // from the beginning of its first line to behind its newline
	keyStart   int  // first byte of the key, of the opening bracket for a header
	valueEnd   int  // behind the value, behind the closing bracket for a header
	section    int  // index of the header above; -1 for none
	node       *node
}

// nodeKind is what a node holds.
type nodeKind uint8

const (
	scalarNode nodeKind = iota
	arrayNode           // elements between brackets
	tableNode
	tablesNode // [[…]]
)

// origin is how a table came to be, which says where a key can be added.
type origin uint8

const (
	byHeader origin = iota // [a], an element of [[a]], or the root
	byInline               // { … }
	byDots                 // a.b = …
	implied                // only as the parent of a header
)

// node is one value, table or array.
type node struct {
	kind   nodeKind
	parent *node
	name   string // key in parent
	index  int    // place in parent, for an element of an array

	value any // scalarNode: string, int64, float64, bool or dateTime
	elems []*node
	keys  []string // in order of appearance
	kids  map[string]*node

	from    origin
	header  int     // statement of its header; -1 for none
	members []*node // inline table: its values in order, those of dotted keys too

	start, end     int // bytes of a scalar, array or inline table
	kvStart, kvEnd int // bytes of the "key = value" that it is the value of
	keyEnd         int
	stmt           int // statement it stands in; -1 for a table made by headers

	env string // not "": the environment variable that set it
	bad bool   // does not fit the schema
}

// dateTime is a date or time, which the configuration never uses, as written.
type dateTime string

// syntaxError is why a text is no TOML, with its place.
type syntaxError struct {
	line, column int // from 1
	message      string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.message)
}

var utf8BOM = []byte("\xef\xbb\xbf")

// maxNesting bounds arrays and inline tables inside each other.
const maxNesting = 64

// parse reads the text of a file. The error is a *syntaxError.
func parse(data []byte) (*document, error) {
	d := &document{data: data}
	if bytes.HasPrefix(data, utf8BOM) {
		d.bom = len(utf8BOM)
	}
	if err := d.checkText(); err != nil {
		return nil, err
	}
	// The decoder knows the rules between statements, duplicates above all,
	// and reports positions; the tree below then only has to follow.
	var all map[string]any
	if err := toml.Unmarshal(data[d.bom:], &all); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, column := de.Position()
			return nil, &syntaxError{line, max(column, 1), strings.TrimPrefix(de.Error(), "toml: ")}
		}
		return nil, &syntaxError{1, 1, strings.TrimPrefix(err.Error(), "toml: ")}
	}
	if err := d.build(); err != nil {
		return nil, err
	}
	return d, nil
}

// checkText refuses what is no text in UTF-8, in words that name the mistake.
func (d *document) checkText() error {
	switch {
	case bytes.HasPrefix(d.data, []byte("\xff\xfe")), bytes.HasPrefix(d.data, []byte("\xfe\xff")):
		return &syntaxError{1, 1, "the file is UTF-16; save it as UTF-8"}
	}
	if i := bytes.IndexByte(d.data, 0); i >= 0 {
		line, column := d.position(i)
		return &syntaxError{line, column, "there is a NUL byte; the file must be text in UTF-8"}
	}
	return nil
}

// position is the line and column, both from 1 and in bytes, of an offset.
func (d *document) position(offset int) (line, column int) {
	before := d.data[min(d.bom, offset):offset]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// place is where a person looks for the node.
func (d *document) place(n *node) (line, column int) {
	switch {
	case n.stmt >= 0 && n.kvEnd > 0:
		return d.position(n.kvStart)
	case n.end > 0:
		return d.position(n.start)
	case n.kind == tableNode && n.header >= 0:
		return d.position(d.stmts[n.header].keyStart)
	}
	for _, k := range n.keys {
		return d.place(n.kids[k])
	}
	for _, e := range n.elems {
		return d.place(e)
	}
	return 1, 1
}

func newTable(parent *node, name string, from origin) *node {
	return &node{kind: tableNode, parent: parent, name: name, from: from, kids: map[string]*node{}, header: -1, stmt: -1}
}

// add makes child a member of the table n.
func (n *node) add(child *node) {
	n.keys = append(n.keys, child.name)
	n.kids[child.name] = child
	child.parent = n
}

// build makes statements and tree of a text that the decoder has accepted.
func (d *document) build() error {
	d.root = newTable(nil, "", byHeader)
	text := d.data[d.bom:]
	var p unstable.Parser
	p.Reset(text)
	current, section := d.root, -1
	for p.NextExpression() {
		e := p.Expression()
		s := stmt{section: section}
		var err error
		if e.Kind == unstable.KeyValue {
			s.keyStart = int(e.Raw.Offset) + d.bom
			s.valueEnd = s.keyStart + int(e.Raw.Length)
			s.node, err = d.keyValue(current, e, len(d.stmts), 0)
		} else {
			s.header, s.array = true, e.Kind == unstable.ArrayTable
			current, err = d.table(e, len(d.stmts))
			first, last := keySpan(e)
			s.keyStart = bytes.LastIndexByte(text[:first], '[') + d.bom
			s.valueEnd = bytes.IndexByte(text[last:], ']') + last + 1 + d.bom
			if s.array {
				s.keyStart--
				s.valueEnd++
			}
			section = len(d.stmts)
			s.section = section
			s.node = current
		}
		if err != nil {
			line, column := d.position(s.keyStart)
			return &syntaxError{line, column, err.Error()}
		}
		s.start = d.bom + bytes.LastIndexByte(text[:s.keyStart-d.bom], '\n') + 1
		s.end = len(d.data)
		if i := bytes.IndexByte(d.data[s.valueEnd:], '\n'); i >= 0 {
			s.end = s.valueEnd + i + 1
		}
		d.stmts = append(d.stmts, s)
	}
	if err := p.Error(); err != nil {
		return &syntaxError{1, 1, err.Error()}
	}
	return nil
}

// keySpan is where the key of an expression begins and ends in the text.
func keySpan(e *unstable.Node) (first, last int) {
	first = -1
	for it := e.Key(); it.Next(); {
		r := it.Node().Raw
		if first < 0 {
			first = int(r.Offset)
		}
		last = int(r.Offset + r.Length)
	}
	return first, last
}

func keyParts(e *unstable.Node) []string {
	var parts []string
	for it := e.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
	}
	return parts
}

// table follows or makes the table of a header.
func (d *document) table(e *unstable.Node, index int) (*node, error) {
	t := d.root
	parts := keyParts(e)
	for i, part := range parts {
		kid, last := t.kids[part], i == len(parts)-1
		switch {
		case last && e.Kind == unstable.ArrayTable:
			if kid == nil {
				kid = &node{kind: tablesNode, name: part, header: -1, stmt: -1}
				t.add(kid)
			}
			if kid.kind != tablesNode {
				return nil, fmt.Errorf("%s is no array of tables above", part)
			}
			elem := newTable(kid, "", byHeader)
			elem.index, elem.header = len(kid.elems), index
			kid.elems = append(kid.elems, elem)
			return elem, nil
		case kid == nil:
			kid = newTable(t, part, implied)
			t.add(kid)
		case kid.kind == tablesNode && len(kid.elems) > 0:
			kid = kid.elems[len(kid.elems)-1]
		case kid.kind != tableNode:
			return nil, fmt.Errorf("%s is no table above", part)
		}
		t = kid
	}
	if t.from == implied {
		t.from = byHeader
	}
	t.header = index
	return t, nil
}

// keyValue adds one key with its value to t and returns the value's node.
func (d *document) keyValue(t *node, e *unstable.Node, index, depth int) (*node, error) {
	inline := t
	parts := keyParts(e)
	for _, part := range parts[:len(parts)-1] {
		kid := t.kids[part]
		if kid == nil {
			kid = newTable(t, part, byDots)
			kid.stmt = index
			t.add(kid)
		}
		if kid.kind != tableNode {
			return nil, fmt.Errorf("%s is no table above", part)
		}
		t = kid
	}
	_, last := keySpan(e)
	text := d.data[d.bom:]
	at := last + bytes.IndexByte(text[last:], '=') + 1
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	n, err := d.layOut(e.Value(), at, index, depth)
	if err != nil {
		return nil, err
	}
	n.name = parts[len(parts)-1]
	n.kvStart, n.kvEnd = int(e.Raw.Offset)+d.bom, int(e.Raw.Offset+e.Raw.Length)+d.bom
	n.keyEnd = last + d.bom
	t.add(n)
	if inline.from == byInline {
		inline.members = append(inline.members, n)
	}
	return n, nil
}

// layOut makes the node of a value that begins at offset at of the text. The
// parser gives no range for arrays and only the brace of an inline table, so
// that their ends are found by stepping over what lies between the elements.
func (d *document) layOut(v *unstable.Node, at, index, depth int) (*node, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("arrays and tables are nested more than %d deep", maxNesting)
	}
	text := d.data[d.bom:]
	n := &node{header: -1, stmt: index, start: at + d.bom}
	switch v.Kind {
	case unstable.Array:
		n.kind = arrayNode
		at++
		for it := v.Children(); it.Next(); {
			kid, err := d.layOut(it.Node(), skipBetween(text, at), index, depth+1)
			if err != nil {
				return nil, err
			}
			kid.parent, kid.index = n, len(n.elems)
			n.elems = append(n.elems, kid)
			at = kid.end - d.bom
		}
		n.end = skipBetween(text, at) + 1 + d.bom
	case unstable.InlineTable:
		n.kind, n.from, n.kids = tableNode, byInline, map[string]*node{}
		at++
		for it := v.Children(); it.Next(); {
			kid, err := d.keyValue(n, it.Node(), index, depth+1)
			if err != nil {
				return nil, err
			}
			at = kid.kvEnd - d.bom
		}
		n.end = skipBetween(text, at) + 1 + d.bom
	default:
		n.end = int(v.Raw.Offset+v.Raw.Length) + d.bom
		var err error
		if n.value, err = scalar(v); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// skipBetween steps over white space, newlines, commas and comments.
func skipBetween(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\r', '\n', ',':
			at++
		case '#':
			i := bytes.IndexByte(text[at:], '\n')
			if i < 0 {
				return len(text)
			}
			at += i
		default:
			return at
		}
	}
	return at
}

// scalar is the value of a leaf.
func scalar(v *unstable.Node) (any, error) {
	raw := string(v.Data)
	switch v.Kind {
	case unstable.String:
		return raw, nil
	case unstable.Bool:
		return raw == "true", nil
	case unstable.Integer:
		return strconv.ParseInt(raw, 0, 64)
	case unstable.Float:
		switch strings.TrimLeft(raw, "+-") {
		case "inf":
			return math.Inf(1 - 2*strings.Count(raw, "-")), nil
		case "nan":
			return math.NaN(), nil
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(raw, "_", ""), 64)
		if errors.Is(err, strconv.ErrRange) {
			err = nil
		}
		return f, err
	}
	return dateTime(raw), nil
}

// plain is the value without places: string, int64, float64, bool, dateTime,
// []any or map[string]any.
func (n *node) plain() any {
	switch n.kind {
	case scalarNode:
		return n.value
	case tableNode:
		m := make(map[string]any, len(n.keys))
		for k, kid := range n.kids {
			m[k] = kid.plain()
		}
		return m
	}
	list := make([]any, len(n.elems))
	for i, e := range n.elems {
		list[i] = e.plain()
	}
	return list
}

// path leads from the root to the node: strings for keys, ints for places in
// arrays.
func (n *node) path() []any {
	if n.parent == nil {
		return nil
	}
	if n.parent.kind == arrayNode || n.parent.kind == tablesNode {
		return append(n.parent.path(), n.index)
	}
	return append(n.parent.path(), n.name)
}

// walk follows path as far as it exists.
func (d *document) walk(path []any) (n *node, depth int) {
	n = d.root
	for i, step := range path {
		var next *node
		switch step := step.(type) {
		case string:
			if n.kind == tableNode {
				next = n.kids[step]
			}
		case int:
			if (n.kind == arrayNode || n.kind == tablesNode) && step < len(n.elems) {
				next = n.elems[step]
			}
		}
		if next == nil {
			return n, i
		}
		n = next
	}
	return n, len(path)
}

// find is the node at path, nil if there is none.
func (d *document) find(path ...any) *node {
	if n, depth := d.walk(path); depth == len(path) {
		return n
	}
	return nil
}
