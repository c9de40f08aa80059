package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// envPrefix begins the variables that override settings: ZEROCLAW_ + path with
// "__" for ".". A tail without a lower-case letter (ZEROCLAW_CONFIG_DIR) is no
// override but says where things are.
const envPrefix = "ZEROCLAW_"

// EnvError refuses to start because of an environment variable.
type EnvError struct {
	Variable string
	Message  string // never holds a secret
}

func (e *EnvError) Error() string { return e.Variable + ": " + e.Message }

// override is one variable that names a setting.
type override struct{ variable, tail, value string }

// overrides picks the variables out of an environment ("NAME=value"), sorted
// by name so that the outcome never depends on their order.
func overrides(environ []string) []override {
	var list []override
	for _, e := range environ {
		variable, value, _ := strings.Cut(e, "=")
		tail, ok := strings.CutPrefix(variable, envPrefix)
		if ok && tail != strings.ToUpper(tail) {
			list = append(list, override{variable, tail, value})
		}
	}
	slices.SortFunc(list, func(a, b override) int { return strings.Compare(a.variable, b.variable) })
	return list
}

// applyEnv puts the overrides into the tree, in memory only. A variable that
// cannot be used is returned; it changes nothing.
func (c *checker) applyEnv(list []override) (used map[string]string, bad []*EnvError) {
	used = map[string]string{}
	for _, o := range list {
		path, wrong := c.applyOne(o)
		if wrong != "" {
			bad = append(bad, &EnvError{o.variable, wrong})
			continue
		}
		used[path] = o.variable
	}
	return used, bad
}

func (c *checker) applyOne(o override) (path, wrong string) {
	t, path, ok := resolveEnv(c.doc.root, o.tail)
	if !ok {
		parts := strings.Split(o.tail, "__")
		return "", "names no setting" + strings.ReplaceAll(hint(c.doc.root, parts), "did you mean ", "the nearest is ")
	}
	if t.name != "" {
		if wrong := entrySection(t).checkEntry(t.name); wrong != "" {
			return "", fmt.Sprintf("the name %q %s", t.name, wrong)
		}
	}
	if t.section.list || t.section.field == nil && (t.section.star == nil || t.section.star.field == nil) {
		return "", "names a section, not a setting; it holds " + strings.Join(t.section.names(), ", ")
	}
	if t.section.path == "mcp.servers.*.name" {
		return "", "the name is part of the variable and cannot be set"
	}
	var value any
	if f := t.section.field; f != nil {
		if value, wrong = f.parseText(o.value); wrong != "" {
			return "", wrong
		}
		if f.Kind == Secret && o.value != "" {
			c.problems = append(c.problems, Problem{Code: CodeEnvSecret, Severity: SevereWarning, Path: path, Variable: o.variable,
				Message: "holds a secret; other programs of the same user can read it. Prefer zeroclaw config set"})
		}
	} else if value, wrong = parseTextMap(t.section.star.field, o.value); wrong != "" {
		return "", wrong
	}
	if !graft(c.doc.root, t, value, o.variable) {
		return "", "cannot be used, because what the file says there is no table"
	}
	return path, ""
}

// entrySection is the section whose entry t lies in.
func entrySection(t target) *section {
	at := schema
	for i, step := range t.path {
		if i == t.entry-1 {
			return at
		}
		if key, ok := step.(string); ok && at.kids[key] != nil {
			at = at.kids[key]
		} else {
			at = at.star
		}
	}
	return at
}

// resolveEnv finds the setting that the tail of a variable names. A name that
// holds "__" itself, as those of MCP tools do, takes part as a whole.
func resolveEnv(root *node, tail string) (t target, path string, ok bool) {
	parts := strings.Split(tail, "__")
	if slices.Contains(parts, "") || len(parts) > 16 {
		return t, "", false
	}
	m := matcher{separator: "__"}
	t, ok = m.match(schema, root, parts, target{})
	if !ok {
		return t, "", false
	}
	at := root
	for i, step := range t.path {
		switch step := step.(type) {
		case string:
			path = Join(path, step)
			at = at.member(step)
		case int:
			name := t.name
			if i != t.entry-1 {
				name = strconv.Itoa(step)
			}
			path = Join(path, name)
		}
	}
	return t, path, true
}

// graft sets a value in the tree and marks it as coming from a variable.
func graft(root *node, t target, value any, variable string) bool {
	at := root
	for i, step := range t.path[:len(t.path)-1] {
		var next *node
		switch step := step.(type) {
		case string:
			if at.kind != tableNode {
				return false
			}
			if next = at.kids[step]; next == nil {
				next = newTable(at, step, implied)
				next.env = variable
				if _, isList := t.path[i+1].(int); isList {
					next = &node{kind: tablesNode, name: step, header: -1, stmt: -1, env: variable}
				}
				at.add(next)
			}
		case int:
			if at.kind != tablesNode && at.kind != arrayNode {
				return false
			}
			if step == len(at.elems) {
				e := newTable(at, "", implied)
				e.index, e.env = step, variable
				e.add(fromPlain(t.name, "name", variable))
				at.elems = append(at.elems, e)
			}
			next = at.elems[step]
		}
		at = next
	}
	key, ok := t.path[len(t.path)-1].(string)
	if !ok || at.kind != tableNode {
		return false
	}
	if _, has := at.kids[key]; has {
		at.keys = slices.DeleteFunc(at.keys, func(k string) bool { return k == key })
		delete(at.kids, key)
	}
	if value != nil {
		at.add(fromPlain(value, key, variable))
	}
	return true
}

// fromPlain makes a tree of a plain value.
func fromPlain(v any, name, variable string) *node {
	n := &node{name: name, header: -1, stmt: -1, env: variable}
	switch v := v.(type) {
	case map[string]any:
		n.kind, n.kids = tableNode, map[string]*node{}
		for _, k := range sortedKeys(v) {
			n.add(fromPlain(v[k], k, variable))
		}
	case []any:
		n.kind = arrayNode
		for i, e := range v {
			kid := fromPlain(e, "", variable)
			kid.parent, kid.index = n, i
			n.elems = append(n.elems, kid)
		}
	default:
		n.value = v
	}
	return n
}
