package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
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
	Message  string // never holds the value
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

// parseText reads a value as the command line and the environment write it:
// true or false, an integer, text, a list as JSON or with commas, JSON. Empty
// removes: nil. The message says what is wrong, without the value.
func (f *Field) parseText(text string) (value any, wrong string) {
	if text == "" {
		return nil, ""
	}
	switch f.Kind {
	case Boolean:
		switch text {
		case "true":
			value = true
		case "false":
			value = false
		default:
			return nil, "must be true or false"
		}
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Sprintf("must be a whole number from %d to %d", f.Min, f.Max)
		}
		value = n
	case Array:
		if strings.HasPrefix(strings.TrimSpace(text), "[") {
			v, err := fromJSON([]byte(text))
			if err != nil {
				return nil, "begins with [ but is no list in JSON"
			}
			value = v
			break
		}
		list := []any{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		value = list
	case Object:
		v, err := fromJSON([]byte(text))
		if err != nil {
			return nil, "must be JSON"
		}
		value = v
	default:
		value = text
	}
	return f.convert(value)
}

// parseTextMap reads a JSON object for a map of which each value is a field.
func parseTextMap(f *Field, text string) (value any, wrong string) {
	if text == "" {
		return nil, ""
	}
	v, err := fromJSON([]byte(text))
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, "must be an object in JSON"
	}
	for k, kid := range m {
		if m[k], wrong = f.convert(kid); wrong != "" {
			return nil, fmt.Sprintf("entry %q %s", k, wrong)
		}
	}
	return m, ""
}

// fromJSON decodes one JSON value into plain values.
func fromJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return plainValue(v)
}

// plainValue turns what a JSON decoder or a caller in Go gives into plain
// values. A whole number written as 3.0 counts as one.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
		return v, nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %.20s is too large", v)
		}
		return plainValue(f)
	case json.RawMessage:
		return fromJSON(v)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list, nil
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			var err error
			if list[i], err = plainValue(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]string:
		m := make(map[string]any, len(v))
		for k, s := range v {
			m[k] = s
		}
		return m, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			var err error
			if m[k], err = plainValue(e); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, fmt.Errorf("a value of type %T is not understood", v)
}
