package tools

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// schemaProps are the properties of an object, merged from several places.
type schemaProps struct {
	list    []schemaProp
	at      map[string]int
	nested  bool         // below the outermost level, whose names providers check
	left    []schemaProp // whose names providers refuse
	sources int          // how many places give some
}

// schemaProp is a property. Several nodes are alternatives.
type schemaProp struct {
	name  string
	nodes []*schemaNode
}

// add takes in the properties of one place. Those that are known stay, unless
// these are alternatives to them.
func (p *schemaProps) add(w *schemaWriter, n *schemaNode, alternative map[string]bool) {
	of := n.get("properties")
	if !of.isObject() {
		return
	}
	all := of.all()
	w.steps += len(all) + len(of.raw)/scanned
	if len(all) > 0 {
		p.sources++
	}
	if len(all) > MaxModelSchema/len(`"a":{},`) {
		w.steps = math.MaxInt32 // they cannot all be there
		return
	}
	for i := range all {
		if string(all[i].value.raw) == "false" {
			continue // may never be there
		}
		p.put(all[i].key, &all[i].value, alternative)
	}
}

func (p *schemaProps) put(name string, n *schemaNode, alternative map[string]bool) {
	if !p.takes(name) {
		p.left = append(p.left, schemaProp{name, []*schemaNode{n}})
		return
	}
	if i, known := p.at[name]; known {
		if alternative[name] && len(p.list[i].nodes) < maxAlternatives {
			p.list[i].nodes = append(p.list[i].nodes, n)
		}
		return
	}
	if p.at == nil {
		p.at = map[string]int{}
	}
	p.at[name] = len(p.list)
	p.list = append(p.list, schemaProp{name, []*schemaNode{n}})
	if alternative != nil {
		alternative[name] = true
	}
}

// maxAlternatives bounds how many kinds of one property are shown.
const maxAlternatives = 32

// anything is a schema that says nothing.
var anything = &schemaNode{raw: []byte(`{}`)}

// object writes the outermost level.
func (w *schemaWriter) object(n *schemaNode) {
	v := w.view(n)
	defer w.release(v)
	w.str(`{"type":"object"`)
	if t := v.first("type", func(*schemaNode) bool { return true }); t != nil && !bytes.Contains(t.raw, []byte(`"object"`)) {
		w.str(`,"properties":{}}`) // arguments are always an object: of another type nothing can be said
		return
	}
	var p schemaProps
	for _, l := range v.layers {
		p.add(w, l, nil)
	}
	must := v.required()
	inAll, ways := w.branches(v, &p)
	must = uniqueStrings(append(must, inAll...))
	for _, l := range v.maybe {
		p.add(w, l, nil)
	}
	w.members(v, &p, must, ways)
	w.str("}")
}

// branches merges the properties of the alternatives of the outermost level. It
// returns what all of them require, and which arguments go together in words.
func (w *schemaWriter) branches(v *schemaView, p *schemaProps) (inAll []string, ways string) {
	alternative := map[string]bool{}
	var each []string
	for i, alt := range v.alts {
		b := w.view(alt)
		v.marked = append(v.marked, b.marked...) // until all properties are written
		for _, l := range b.layers {
			p.add(w, l, alternative)
		}
		for _, l := range append(b.maybe, b.alts...) {
			p.add(w, l, alternative)
		}
		must := b.required()
		if i == 0 {
			inAll = must
		} else {
			inAll = slices.DeleteFunc(inAll, func(name string) bool { return !slices.Contains(must, name) })
		}
		must = slices.DeleteFunc(must, func(name string) bool { return !providerKey(name) })
		if len(must) > 0 && len(must) <= 8 {
			each = append(each, strings.Join(must, " + "))
		}
	}
	each = uniqueStrings(each)
	if len(each) > 1 && len(each) <= 12 {
		ways = "(one of: " + strings.Join(each, "; ") + ")"
	}
	return inAll, ways
}

// members writes what an object has besides its type.
func (w *schemaWriter) members(v *schemaView, p *schemaProps, must []string, ways string) {
	notes := v.notes
	if ways != "" {
		notes = append(notes, ways)
	}
	for _, name := range must {
		if _, ok := p.at[name]; !ok && p.takes(name) {
			p.put(name, anything, nil)
		}
	}
	notes = append(notes, w.leftOut(p.left, must)...)
	w.description(v, notes)
	w.str(`,"properties":{`)
	for i, prop := range p.list {
		if w.over() {
			return
		}
		if i > 0 {
			w.str(",")
		}
		w.quoted(prop.name)
		w.str(":")
		w.property(prop)
	}
	w.str("}")
	w.required(must, p.at)
	w.additional(v, p)
}

// property writes one property, which may be of several kinds.
func (w *schemaWriter) property(p schemaProp) {
	if len(p.nodes) == 1 {
		w.schema(p.nodes[0], false)
		return
	}
	var kinds []string
	from := len(w.out)
	for _, n := range p.nodes {
		at := len(w.out)
		w.schema(n, false)
		if w.over() {
			return
		}
		kinds = append(kinds, string(w.out[at:]))
	}
	w.out = w.out[:from]
	if kinds = uniqueStrings(kinds); len(kinds) == 1 {
		w.str(kinds[0])
		return
	}
	w.str(`{"anyOf":[` + strings.Join(kinds, ",") + `]}`)
}

func (w *schemaWriter) required(names []string, known map[string]int) {
	sep := `,"required":[`
	for _, name := range names {
		if _, ok := known[name]; ok || known == nil && providerKey(name) {
			w.str(sep)
			w.quoted(name)
			sep = ","
		}
	}
	if sep == "," {
		w.str("]")
	}
}

// additional writes additionalProperties where it is certain what it means:
// properties of one place only, and none left out.
func (w *schemaWriter) additional(v *schemaView, p *schemaProps) {
	if len(p.left) > 0 || p.sources > 1 || len(v.alts) > 0 && w.nested == 0 {
		return
	}
	if len(v.layers) > 0 && v.first("patternProperties", (*schemaNode).isObject) != nil {
		return
	}
	value := v.first("additionalProperties", func(n *schemaNode) bool { return n.isObject() || n.isBool() })
	if value == nil {
		return
	}
	w.str(`,"additionalProperties":`)
	if value.isBool() {
		w.str(string(value.raw))
	} else {
		w.schema(value, false)
	}
}

// leftOut names the properties that cannot be listed, so that a model may still
// use them: providers check the list, not the calls.
func (w *schemaWriter) leftOut(left []schemaProp, must []string) []string {
	if len(left) == 0 {
		return nil
	}
	var each []string
	for _, p := range left {
		one := strconv.Quote(ModelText(p.name, 80))
		if kind := w.kind(p.nodes[0]); kind != "" {
			one += " " + strings.Trim(kind, `"`)
		}
		if slices.Contains(must, p.name) {
			one += " required"
		}
		each = append(each, one)
	}
	if each = uniqueStrings(each); len(each) > maxLeftOut {
		each = append(each[:maxLeftOut], "others")
	}
	return []string{"(also takes, under names that cannot be listed: " + strings.Join(each, ", ") + ")"}
}

// maxLeftOut bounds how many properties are named in a description.
const maxLeftOut = 40

// takes reports whether providers take the name of a property. Only those of
// the outermost level have to be of their kind.
func (p *schemaProps) takes(name string) bool {
	if p.nested {
		return name != "" && len(name) <= 200 && isModelText(name)
	}
	return providerKey(name)
}

// providerKey reports whether providers take the name of a property:
// ^[A-Za-z0-9_.-]{1,64}$.
func providerKey(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool { return r != '.' && isOther(r) }) < 0
}
