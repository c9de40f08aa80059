package config

import (
	"fmt"
	"strconv"
	"strings"
)

// target is a setting or section that a path leads to.
type target struct {
	path    []any // in the document; an int that is the length of its list adds an entry
	section *section
	name    string // of the innermost entry on the way, "" for none
	entry   int    // number of steps of path that lead to that entry
	fresh   bool   // the innermost list entry does not exist yet
}

// splitPath takes a dotted path apart. Parts may be quoted as in TOML.
func splitPath(path string) ([]string, error) {
	var parts []string
	for rest := path; ; {
		var part string
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("has an unfinished quote")
			}
			if part, err = strconv.Unquote(quoted); err != nil {
				return nil, fmt.Errorf("has a bad quote")
			}
			rest = rest[len(quoted):]
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			part, rest = rest[:end], rest[end:]
		}
		if part == "" {
			return nil, fmt.Errorf("has an empty part")
		}
		if parts = append(parts, part); len(parts) > 64 || len(path) > 4096 {
			return nil, fmt.Errorf("is too long")
		}
		if rest == "" {
			return parts, nil
		}
		if rest[0] != '.' || len(rest) == 1 {
			return nil, fmt.Errorf("has an empty part")
		}
		rest = rest[1:]
	}
}

// Join appends the name of an entry to a path, quoted where its dots would
// be taken apart otherwise.
func Join(path, name string) string {
	if name == "" || strings.ContainsAny(name, ".\"\\") {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// resolve finds the setting or section that path means in the document. Names
// of entries may hold dots: the longest existing one wins, then the shortest
// new one. Errors are *FieldError.
func resolve(root *node, path string) (target, error) {
	parts, err := splitPath(path)
	if err != nil {
		return target{}, &FieldError{Path: path, Message: err.Error(), Unknown: true}
	}
	m := matcher{separator: "."}
	if t, ok := m.match(schema, root, parts, target{}); ok {
		return t, nil
	}
	if m.ambiguous != "" {
		return target{}, &FieldError{Path: path, Message: fmt.Sprintf("is ambiguous: several entries are called %q; give them different names first", m.ambiguous)}
	}
	return target{}, &FieldError{Path: path, Message: "is no setting" + hint(root, parts), Unknown: true}
}

// matcher follows the parts of a path through the schema.
type matcher struct {
	separator string // between parts that make up one name
	ambiguous string // the name that several entries have
}

func (m *matcher) match(s *section, n *node, parts []string, t target) (target, bool) {
	if len(parts) == 0 {
		t.section = s
		return t, true
	}
	if kid := s.kids[parts[0]]; kid != nil {
		next := t
		next.path = join(t.path, parts[0])
		return m.match(kid, n.member(parts[0]), parts[1:], next)
	}
	if s.star == nil {
		return t, false
	}
	try := func(k int, wantExisting bool) (target, bool) {
		name := strings.Join(parts[:k], m.separator)
		step, kid, count := s.entry(n, name)
		if (kid != nil) != wantExisting {
			return t, false
		}
		next := t
		next.path = join(t.path, step)
		next.name, next.entry, next.fresh = name, len(next.path), t.fresh
		if s.star.field != nil {
			next.name, next.entry = t.name, t.entry
		}
		if s.list && kid == nil {
			next.fresh = true
		}
		found, ok := m.match(s.star, kid, parts[k:], next)
		if ok && count > 1 {
			m.ambiguous = name
			return t, false
		}
		return found, ok
	}
	for k := len(parts); k > 0; k-- {
		if found, ok := try(k, true); ok {
			return found, true
		}
	}
	if m.ambiguous != "" {
		return t, false
	}
	for k := 1; k <= len(parts); k++ {
		if found, ok := try(k, false); ok {
			return found, true
		}
	}
	return t, false
}

// entry finds an entry of a section by name: the step that leads to it, the
// entry (nil for a new one) and how many there are of that name.
func (s *section) entry(n *node, name string) (step any, kid *node, count int) {
	if !s.list {
		kid = n.member(name)
		return name, kid, 1
	}
	if n == nil || n.kind != tablesNode && n.kind != arrayNode {
		return 0, nil, 0
	}
	step = len(n.elems)
	for i, e := range n.elems {
		if own := e.member("name"); own != nil && own.value == name {
			if count++; count == 1 {
				step, kid = i, e
			}
		}
	}
	return step, kid, count
}

// member is the value under a key, nil if n is no table or has none.
func (n *node) member(key string) *node {
	if n == nil || n.kind != tableNode {
		return nil
	}
	return n.kids[key]
}

// hint says what a path that leads nowhere may have meant.
func hint(root *node, parts []string) string {
	s, n, so := schema, root, ""
	for i, part := range parts {
		if kid := s.kids[part]; kid != nil {
			s, n, so = kid, n.member(part), Join(so, part)
			continue
		}
		if s.star != nil {
			_, kid, _ := s.entry(n, part)
			s, n, so = s.star, kid, Join(so, part)
			continue
		}
		rest := ""
		if i+1 < len(parts) {
			rest = "." + strings.Join(parts[i+1:], ".")
		}
		if near := nearest(part, s.names()); near != "" {
			return fmt.Sprintf("; did you mean %s?", Join(so, near)+rest)
		}
		if len(s.kids) > 0 {
			return fmt.Sprintf("; known here: %s", strings.Join(s.names(), ", "))
		}
		return fmt.Sprintf("; %s has no parts", so)
	}
	return ""
}

// sectionError explains why a section is not a setting.
func sectionError(path string, t target) *FieldError {
	parts, _ := splitPath(path)
	last := parts[len(parts)-1]
	if t.section.kids[last] != nil {
		// "mcp.servers.args": the name of the entry was left out.
		above := strings.Join(parts[:len(parts)-1], ".")
		return &FieldError{Path: path, Message: fmt.Sprintf("needs the name of an entry: %s.NAME.%s", above, last)}
	}
	if len(t.section.kids) > 0 {
		return &FieldError{Path: path, Message: "is a section, not a setting; it holds " + strings.Join(t.section.names(), ", ")}
	}
	return &FieldError{Path: path, Message: "is a section, not a setting; name an entry of it"}
}

// showPath is the dotted path of a node as people address it: entries of lists
// by name.
func showPath(n *node) string {
	if n.parent == nil {
		return ""
	}
	switch n.parent.kind {
	case arrayNode, tablesNode:
		if own := n.member("name"); own != nil {
			if s, ok := own.value.(string); ok && s != "" {
				return Join(showPath(n.parent), s)
			}
		}
		return fmt.Sprintf("%s[%d]", showPath(n.parent), n.index)
	}
	return Join(showPath(n.parent), n.name)
}
