package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
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
