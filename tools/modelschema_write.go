package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"zeroclaw/tools/jsonparts"
)

// schemaWriter writes one attempt at a copy of a schema.
type schemaWriter struct {
	root   *schemaNode
	texts  bool // with descriptions, titles, defaults and examples
	depth  int  // how deep it goes
	nested int  // how deep it is
	steps  int
	out    []byte
	// active are the places that are being written: to meet one again is a
	// cycle.
	active map[*schemaNode]bool
}

// over reports that the attempt has failed: it is too large, or too much work.
func (w *schemaWriter) over() bool { return len(w.out) > MaxModelSchema || w.steps > maxSchemaSteps }

func (w *schemaWriter) str(s string) { w.out = append(w.out, s...) }

// Longest texts of a schema in the copy, in bytes.
const (
	maxSchemaText = 2000
	maxTitle      = 200
)

var schemaTypes = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// schema writes the schema at a place below the outermost level. Of a branch,
// one of several alternatives, the properties need not be listed.
func (w *schemaWriter) schema(n *schemaNode, branch bool) {
	if w.steps++; w.over() {
		return
	}
	if w.nested >= w.depth {
		w.str("{}")
		return
	}
	w.nested++
	defer func() { w.nested-- }()
	v := w.view(n)
	defer w.release(v)
	start := len(w.out)
	types := w.types(v)
	w.values(v)
	if slices.Contains(types, "array") || len(types) == 0 {
		w.items(v, len(types) > 0)
	}
	p := schemaProps{nested: true}
	for _, l := range append(v.layers, v.maybe...) {
		p.add(w, l, nil)
	}
	must := v.required()
	if len(p.list) > 0 && !branch && len(types) == 0 {
		types = []string{"object"}
		w.str(`,"type":"object"`)
	}
	switch {
	case slices.Contains(types, "object"):
		w.members(v, &p, must, "")
	case len(p.list) > 0 && len(types) == 0:
		w.members(v, &p, slices.DeleteFunc(must, func(name string) bool { _, ok := p.at[name]; return !ok }), "")
	default:
		w.description(v, v.notes)
		if branch && len(types) == 0 {
			w.required(must, nil)
		}
	}
	w.alternatives(v)
	if len(w.out) == start {
		w.str("{")
	} else {
		w.out[start] = '{' // every member begins with a comma
	}
	w.str("}")
}

// types writes the type and returns the names in it.
func (w *schemaWriter) types(v *schemaView) []string {
	var types []string
	v.first("type", func(n *schemaNode) bool {
		var names []string
		if n.isString() {
			names = []string{jsonparts.Text(n.raw)}
		} else if n.isArray() {
			all := n.all()
			for i := range all {
				if all[i].value.isString() {
					names = append(names, jsonparts.Text(all[i].value.raw))
				}
			}
		}
		types = uniqueStrings(slices.DeleteFunc(names, func(s string) bool { return !slices.Contains(schemaTypes, s) }))
		return len(types) > 0
	})
	switch len(types) {
	case 0:
	case 1:
		w.str(`,"type":"` + types[0] + `"`)
	default:
		w.str(`,"type":["` + strings.Join(types, `","`) + `"]`)
	}
	return types
}

// values writes the keywords whose values are passed on.
func (w *schemaWriter) values(v *schemaView) {
	for _, word := range schemaWords {
		if word.text && !w.texts {
			continue
		}
		if n := v.first(word.key, word.valid); n != nil {
			w.str(`,"` + word.key + `":`)
			w.raw(n)
		}
	}
	// Draft 4 said whether the bounds themselves are in.
	for _, bound := range []string{"minimum", "maximum"} {
		exclusive := "exclusiveM" + bound[1:]
		if n := v.first(exclusive, (*schemaNode).isBool); n != nil && string(n.raw) == "true" && v.first(exclusive, isNumber) == nil {
			if limit := v.first(bound, isNumber); limit != nil {
				w.str(`,"` + exclusive + `":` + string(limit.raw))
			}
		}
	}
}

// items writes what is in an array. Providers insist on it.
func (w *schemaWriter) items(v *schemaView, needed bool) {
	tuple := v.first("prefixItems", isNonEmptyArray)
	items := v.first("items", func(n *schemaNode) bool { return n.isObject() || isNonEmptyArray(n) })
	rest := items
	if items.isArray() { // before 2020-12
		tuple, rest = items, v.first("additionalItems", (*schemaNode).isObject)
	}
	if tuple != nil {
		w.str(`,"prefixItems":[`)
		all := tuple.all()
		for i := range all {
			if i > 0 {
				w.str(",")
			}
			w.schema(&all[i].value, false)
		}
		w.str("]")
	}
	switch {
	case rest != nil:
		w.str(`,"items":`)
		w.schema(rest, false)
	case needed || tuple != nil:
		w.str(`,"items":{}`)
	}
}

// alternatives writes the alternatives of a place below the outermost level;
// that exactly one holds says nothing to a model.
func (w *schemaWriter) alternatives(v *schemaView) {
	if len(v.alts) == 0 {
		return
	}
	w.str(`,"anyOf":[`)
	for i, alt := range v.alts {
		if w.over() {
			return
		}
		if i > 0 {
			w.str(",")
		}
		w.schema(alt, true)
	}
	w.str("]")
}

// description writes the server's text, or the title where there is none, and
// our notes, which are never left out.
func (w *schemaWriter) description(v *schemaView, notes []string) {
	text := ""
	if w.texts {
		if n := v.first("description", isText); n != nil {
			text = ModelText(jsonparts.Text(n.raw), maxSchemaText)
		} else if n := v.first("title", isText); n != nil {
			text = ModelText(jsonparts.Text(n.raw), maxTitle)
		}
	}
	if text = strings.TrimSpace(text + " " + strings.Join(uniqueStrings(slices.Clone(notes)), " ")); text != "" {
		w.str(`,"description":`)
		w.quoted(text)
	}
}

// raw writes a value of the server's.
func (w *schemaWriter) raw(n *schemaNode) {
	b := n.raw
	if bytes.Contains(b, []byte(`\u`)) || bytes.Contains(b, []byte(`\U`)) {
		// Half a surrogate pair is JSON, but not to every provider.
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var value any
		if d.Decode(&value) == nil {
			if plain, err := json.Marshal(value); err == nil {
				b = plain
			}
		}
	}
	if bytes.ContainsAny(b, " \t\r\n") {
		var compact bytes.Buffer
		if json.Compact(&compact, b) == nil {
			b = compact.Bytes()
		}
	}
	w.out = append(w.out, b...)
}

func (w *schemaWriter) quoted(s string) { w.out = jsonparts.AppendText(w.out, s) }
