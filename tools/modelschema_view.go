package tools

import (
	"fmt"
	"slices"
	"strings"

	"zeroclaw/tools/jsonparts"
)

// schemaView is what holds at one place of a schema, with references and allOf
// resolved: layers that all hold, of which an earlier one goes before a later.
type schemaView struct {
	layers []*schemaNode // all hold
	maybe  []*schemaNode // hold under conditions: only their properties count
	alts   []*schemaNode // one of these holds as well
	marked []*schemaNode // made active by this view
	notes  []string
}

// scanned is how many bytes of a schema cost a step.
const scanned = 64

// view collects what holds at n. The caller releases it.
func (w *schemaWriter) view(n *schemaNode) *schemaView {
	v := &schemaView{}
	w.collect(v, n, false)
	return v
}

// release ends the time in which meeting a place of v again would be a cycle.
func (w *schemaWriter) release(v *schemaView) {
	for _, n := range v.marked {
		delete(w.active, n)
	}
}

func (w *schemaWriter) collect(v *schemaView, n *schemaNode, maybe bool) {
	if w.steps++; w.over() || !n.isObject() || w.active[n] {
		return
	}
	w.active[n] = true
	v.marked = append(v.marked, n)
	if maybe {
		v.maybe = append(v.maybe, n)
	} else {
		v.layers = append(v.layers, n)
	}
	all := n.all()
	w.steps += len(all) + len(n.raw)/scanned
	for i := range all {
		value := &all[i].value
		switch key := all[i].key; key {
		case "$ref", "$dynamicRef", "$recursiveRef":
			if value.isString() {
				w.follow(v, jsonparts.Text(value.raw), maybe)
			}
		case "allOf":
			w.collectEach(v, value, maybe)
		case "then", "else":
			w.collect(v, value, true)
		case "dependentSchemas", "dependencies":
			w.collectEach(v, value, true)
		case "anyOf", "oneOf":
			if v.alts == nil && !maybe && value.isArray() {
				of := value.all()
				for j := range of {
					v.alts = append(v.alts, &of[j].value)
				}
			} else {
				w.collectEach(v, value, true)
			}
		}
	}
}

func (w *schemaWriter) collectEach(v *schemaView, list *schemaNode, maybe bool) {
	all := list.all()
	for i := range all {
		w.collect(v, &all[i].value, maybe)
	}
}

// follow takes in what a reference means, unless that is where it stands.
func (w *schemaWriter) follow(v *schemaView, ref string, maybe bool) {
	target, local := w.root.resolve(ref)
	switch {
	case !local:
		v.notes = append(v.notes, "(its schema is elsewhere and was not fetched)")
	case target == nil:
		v.notes = append(v.notes, "(its schema is missing)")
	case w.active[target] && !slices.Contains(v.marked, target):
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		if providerKey(name) {
			v.notes = append(v.notes, fmt.Sprintf("(recursive: again a %s)", name))
		} else {
			v.notes = append(v.notes, "(recursive: again as the whole)")
		}
		if w.kind(target) != "" { // its type is all that is said again
			v.layers = append(v.layers, &schemaNode{raw: []byte(`{"type":` + w.kind(target) + `}`)})
		}
	default:
		w.collect(v, target, maybe)
	}
}

// kind is the plain type that a place declares itself, as JSON, or "".
func (w *schemaWriter) kind(n *schemaNode) string {
	if t := n.get("type"); t.isString() && slices.Contains(schemaTypes, jsonparts.Text(t.raw)) {
		return string(t.raw)
	}
	return ""
}

// first returns the value of a keyword in the first layer where it is valid.
func (v *schemaView) first(key string, valid func(*schemaNode) bool) *schemaNode {
	for _, l := range v.layers {
		if value := l.get(key); value != nil && valid(value) {
			return value
		}
	}
	return nil
}

// required lists the names that v requires, each once.
func (v *schemaView) required() []string {
	var names []string
	for _, l := range v.layers {
		list := l.get("required")
		if !list.isArray() {
			continue
		}
		all := list.all()
		for i := range all {
			if one := &all[i].value; one.isString() {
				names = append(names, jsonparts.Text(one.raw))
			}
		}
	}
	return uniqueStrings(names)
}

// uniqueStrings drops what was there before.
func uniqueStrings(list []string) []string {
	if len(list) < 2 {
		return list
	}
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}
