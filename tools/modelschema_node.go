package tools

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"zeroclaw/tools/jsonparts"
)

// schemaNode is a place in a schema: valid JSON, whose members are read when
// they are asked for, and only once.
type schemaNode struct {
	raw     []byte // without white space around it
	members []schemaMember
	index   map[string]int // of an object with many members
	read    bool
}

// schemaMember is a member of an object, or with the key "" an array's.
type schemaMember struct {
	key   string
	value schemaNode
}

// manyMembers is from how many members on an object has an index.
const manyMembers = 16

func (n *schemaNode) isObject() bool { return n != nil && n.raw[0] == '{' }
func (n *schemaNode) isArray() bool  { return n != nil && n.raw[0] == '[' }
func (n *schemaNode) isString() bool { return n != nil && n.raw[0] == '"' }

// all returns the members of an object, the last of equal keys, or of an array.
func (n *schemaNode) all() []schemaMember {
	if n.read || !n.isObject() && !n.isArray() {
		return n.members
	}
	n.read = true
	n.members = make([]schemaMember, 0, 6)
	if n.isArray() {
		for value := range jsonparts.Elements(n.raw) {
			n.members = append(n.members, schemaMember{value: schemaNode{raw: value}})
		}
		return n.members
	}
	for key, value := range jsonparts.Members(n.raw) {
		n.members = append(n.members, schemaMember{key, schemaNode{raw: value}})
	}
	n.unique()
	return n.members
}

// unique drops all but the last of members with one key.
func (n *schemaNode) unique() {
	if len(n.members) <= manyMembers {
		kept := n.members[:0]
		for i, m := range n.members {
			if !slices.ContainsFunc(n.members[i+1:], func(o schemaMember) bool { return o.key == m.key }) {
				kept = append(kept, m)
			}
		}
		n.members = kept
		return
	}
	last := make(map[string]int, len(n.members))
	for i, m := range n.members {
		last[m.key] = i
	}
	kept := n.members[:0]
	for i, m := range n.members {
		if last[m.key] == i {
			kept = append(kept, m)
		}
	}
	n.members, n.index = kept, last
	for i, m := range kept {
		last[m.key] = i
	}
}

// get returns a member of an object, nil when there is none.
func (n *schemaNode) get(key string) *schemaNode {
	if !n.isObject() {
		return nil
	}
	all := n.all()
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return &all[i].value
		}
		return nil
	}
	for i := range all {
		if all[i].key == key {
			return &all[i].value
		}
	}
	return nil
}

// text returns the text of a member that is a string, else "".
func (n *schemaNode) text(key string) string {
	if v := n.get(key); v.isString() {
		return jsonparts.Text(v.raw)
	}
	return ""
}

// maxPointer is the longest reference that is followed, in bytes.
const maxPointer = 1000

// resolve finds what a reference within the schema means. local is false for a
// reference that leads elsewhere.
func (n *schemaNode) resolve(ref string) (target *schemaNode, local bool) {
	if id := strings.TrimSuffix(n.text("$id"), "#"); id != "" {
		if rest, ok := strings.CutPrefix(ref, id); ok && (rest == "" || rest[0] == '#') {
			ref = "#" + strings.TrimPrefix(rest, "#")
		}
	}
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	if pointer == "" {
		return n, true
	}
	if len(pointer) > maxPointer {
		return nil, true
	}
	if pointer[0] != '/' {
		return n.anchor(pointer), true
	}
	at := n
	for part := range strings.SplitSeq(pointer[1:], "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if at.isArray() {
			i, err := strconv.Atoi(part)
			if all := at.all(); err == nil && i >= 0 && i < len(all) {
				at = &all[i].value
				continue
			}
			return nil, true
		}
		if at = at.get(part); at == nil {
			return nil, true
		}
	}
	return at, true
}

// anchor finds a named definition.
func (n *schemaNode) anchor(name string) *schemaNode {
	for _, under := range []string{"$defs", "definitions"} {
		if defs := n.get(under); defs.isObject() {
			all := defs.all()
			for i := range all {
				d := &all[i].value
				if d.text("$anchor") == name || d.text("$dynamicAnchor") == name || d.text("$id") == "#"+name {
					return d
				}
			}
		}
	}
	return nil
}
