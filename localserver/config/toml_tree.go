package config

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxNesting bounds arrays and inline tables inside each other.
const maxNesting = 64

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
