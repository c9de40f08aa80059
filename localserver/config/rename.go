package config

import (
	"fmt"
	"slices"
	"strings"
)

// rename gives an entry another name, and with it what refers to the entry: a
// server in bundles and agents, a bundle or profile in agents.
func (f *File) rename(doc *document, t target, path string, value any) ([]byte, error) {
	to, _ := value.(string)
	sec := entrySection(t)
	switch {
	case t.section.field != nil || len(t.path) != t.entry || sec == nil:
		return nil, &FieldError{Path: path, Message: "is no entry that can be renamed"}
	case t.fresh || doc.find(t.path...) == nil:
		return nil, &FieldError{Path: path, Message: "is not in the file", Unknown: true}
	case to == t.name:
		return doc.data, nil
	}
	if wrong := sec.checkEntry(to); wrong != "" {
		return nil, &FieldError{Path: path, Message: fmt.Sprintf("cannot be renamed: the name %q %s", to, wrong)}
	}
	parent := doc.find(t.path[:len(t.path)-1]...)
	if taken(sec, parent, to, t.name) {
		return nil, &FieldError{Path: path, Message: fmt.Sprintf("cannot be renamed: there is a %q already", to)}
	}
	if held := toolsNamed(doc.root, t.name); sec.list && len(held) > 0 {
		return nil, &FieldError{Path: path, Message: fmt.Sprintf("cannot be renamed: %s would no longer mean its tools; change that first", strings.Join(held, ", "))}
	}
	var data []byte
	var err error
	if sec.list {
		data, err = doc.set(join(t.path, "name"), to)
	} else {
		data, err = doc.renameKey(t.path, to)
	}
	if err != nil {
		return nil, err
	}
	return renameReferences(data, sec.path, t.name, to)
}

// toolsNamed are the settings that name tools of a server by their full names,
// which begin with that of the server: an exclusion or a denial must not be
// lifted by a rename.
func toolsNamed(root *node, server string) []string {
	own := func(tool string) bool {
		return strings.HasPrefix(tool, toolPrefix(server)) || strings.HasPrefix(tool, server+"__")
	}
	var held []string
	each := func(n *node, at string) {
		if slices.ContainsFunc(n.elems, func(e *node) bool { text, ok := e.value.(string); return ok && own(text) }) {
			held = append(held, at)
		}
	}
	if tools := root.member("permissions").member("tools"); tools != nil && tools.kind == tableNode {
		for _, name := range tools.keys {
			if own(name) {
				held = append(held, Join("permissions.tools", name))
			}
		}
	}
	for _, section := range []string{"risk_profiles", "runtime_profiles"} {
		all := root.member(section)
		if all == nil || all.kind != tableNode {
			continue
		}
		for _, name := range all.keys {
			for _, key := range []string{"auto_approve", "always_ask", "allowed_tools", "excluded_tools"} {
				if n := all.kids[name].member(key); n != nil {
					each(n, Join(Join(section, name), key))
				}
			}
			if groups := all.kids[name].member("tool_filter_groups"); groups != nil {
				for _, g := range groups.elems {
					if n := g.member("tools"); n != nil {
						each(n, Join(Join(section, name), "tool_filter_groups"))
					}
				}
			}
		}
	}
	return held
}

// toolPrefix is what the full names of a server's tools begin with where they
// had to be made fit for model providers.
func toolPrefix(server string) string {
	fit := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, server)
	if fit != "" && !(fit[0] >= 'a' && fit[0] <= 'z' || fit[0] >= 'A' && fit[0] <= 'Z') {
		fit = "x" + fit
	}
	return fit[:min(len(fit), 53)] + "__"
}

// taken reports whether another entry of the section has the name; servers are
// compared without regard to case.
func taken(sec *section, n *node, name, except string) bool {
	if !sec.list {
		return n.member(name) != nil
	}
	return slices.ContainsFunc(n.elems, func(e *node) bool {
		own := e.text("name", "")
		return own != except && strings.EqualFold(own, name)
	})
}

// reference is a setting that names entries of a section; * is any entry.
type reference struct {
	path string
	key  bool // the last part is the name itself
}

var references = map[string][]reference{
	"mcp.servers":      {{"mcp_bundles.*.servers", false}, {"mcp_bundles.*.exclude", false}, {"agents.*.media", false}, {"agents.*.tools.*", true}},
	"mcp_bundles":      {{"agents.*.mcp_bundles", false}},
	"risk_profiles":    {{"agents.*.risk_profile", false}},
	"runtime_profiles": {{"agents.*.runtime_profile", false}},
}

func renameReferences(data []byte, section, from, to string) ([]byte, error) {
	for _, r := range references[section] {
		parts := strings.Split(r.path, ".")
		for {
			doc, err := parse(data)
			if err != nil {
				return nil, err
			}
			next, err := renameOne(doc, r, parts, from, to)
			if err != nil {
				return nil, err
			}
			if next == nil {
				break
			}
			data = next
		}
	}
	return data, nil
}

// renameOne changes the first reference that has the old name; nil when there
// is none.
func renameOne(doc *document, r reference, parts []string, from, to string) ([]byte, error) {
	top := doc.root.member(parts[0])
	if top == nil || top.kind != tableNode {
		return nil, nil
	}
	for _, name := range top.keys {
		at := []any{parts[0], name, parts[2]}
		n := doc.find(at...)
		switch {
		case n == nil:
		case r.key:
			if n.member(from) != nil && n.member(to) == nil {
				return doc.renameKey(join(at, from), to)
			}
		case n.kind == scalarNode && n.value == from:
			return doc.set(at, to)
		case n.kind == arrayNode:
			list := n.plain().([]any)
			if !slices.Contains(list, any(from)) {
				continue
			}
			for i := range list {
				if list[i] == from {
					list[i] = to
				}
			}
			return doc.set(at, list)
		}
	}
	return nil, nil
}
