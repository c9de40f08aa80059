package config

import (
	"fmt"
	"slices"
	"strings"

	"zeroclaw/permissions"
	"zeroclaw/services/secrets"
)

// Op is what an Edit does.
type Op uint8

// The edits. Put sets a value. Unset takes a value out of the file, so that
// the default counts. Add makes an entry ("providers.work"), empty, unless it
// exists, or appends Value to a list unless it is in it. Remove takes out an
// entry with everything in it, or Value out of a list. Rename gives an entry
// the name in Value, also where others refer to it.
const (
	Put Op = iota
	Unset
	Add
	Remove
	Rename
)

// Edit is one change of one setting or entry.
type Edit struct {
	Op   Op
	Path string
	// Value as a JSON decoder gives it, or Go strings, ints, bools, string
	// slices and maps of strings. nil unsets; so does "" for text. A map of
	// secrets replaces the whole map; any other table sets the settings it names.
	Value any
}

// edit applies edits to the text of the file and seals what is plain.
func (f *File) edit(data []byte, edits []Edit) ([]byte, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	for rest := edits; len(rest) > 0; {
		next, n := f.applyRun(doc, rest)
		if n > 0 {
			data = next
		} else if data, err = f.applyEdit(doc, rest[0]); err != nil {
			return nil, err
		}
		if len(data) > MaxBytes {
			return nil, &FieldError{Path: rest[0].Path, Message: fmt.Sprintf("would make the file longer than %d bytes, the limit", MaxBytes)}
		}
		rest = rest[max(n, 1):]
		if doc, err = parse(data); err != nil {
			return nil, fmt.Errorf("the changed configuration cannot be read again (%w); nothing was saved", err)
		}
	}
	if err := f.recheck(doc, edits); err != nil {
		return nil, err
	}
	// An unusable key must not keep a person from changing anything else.
	if sealed, err := f.seal(doc); err == nil {
		return sealed, nil
	}
	return data, nil
}

// recheck refuses edits after which something at their paths does not fit,
// such as two servers of one name.
func (f *File) recheck(doc *document, edits []Edit) error {
	chk := &checker{doc: doc, file: f.path}
	again, err := parse(doc.data)
	if err != nil {
		return err
	}
	chk.doc = again
	chk.check(again.root, schema)
	for _, p := range chk.problems {
		for _, e := range edits {
			if p.Severity == SevereError && e.Op != Unset && e.Op != Remove && e.Op != Rename && (p.Path == e.Path || strings.HasPrefix(e.Path, p.Path+".")) {
				return &FieldError{Path: e.Path, Message: p.Message}
			}
		}
	}
	return nil
}

func (f *File) applyEdit(doc *document, e Edit) ([]byte, error) {
	t, err := resolve(doc.root, e.Path)
	if err != nil {
		return nil, err
	}
	if t.name != "" && e.Op != Unset && e.Op != Remove {
		if wrong := entrySection(t).checkEntry(t.name); wrong != "" {
			return nil, &FieldError{Path: e.Path, Message: fmt.Sprintf("cannot be: the name %q %s", t.name, wrong)}
		}
	}
	if t.section.field == nil && e.Op == Put && doc.find(t.path...) == nil {
		// A misspelt last part looks like a longer name of a new entry.
		parts, _ := splitPath(e.Path)
		if h := hint(doc.root, parts); h != "" {
			return nil, &FieldError{Path: e.Path, Message: "is no setting" + h, Unknown: true}
		}
	}
	value, err := plainValue(e.Value)
	if err != nil {
		return nil, &FieldError{Path: e.Path, Message: err.Error()}
	}
	if t.section.path == "mcp.servers.*.name" && (e.Op != Put || value != t.name) {
		return nil, &FieldError{Path: e.Path, Message: "is read-only; rename the server instead"}
	}
	var data []byte
	switch e.Op {
	case Put:
		data, err = f.put(doc, t, e.Path, value)
	case Unset:
		if t.section.field == nil && (t.section.star == nil || t.section.star.field == nil) {
			return nil, sectionError(e.Path, t)
		}
		data, err = doc.unset(t.path)
	case Add:
		data, err = f.add(doc, t, e.Path, value)
	case Remove:
		data, err = f.remove(doc, t, e.Path, value)
	case Rename:
		data, err = f.rename(doc, t, e.Path, value)
	default:
		return nil, fmt.Errorf("unknown edit %d", e.Op)
	}
	return data, fieldError(e.Path, err)
}

// fieldError gives an error of the editor the path that it is about.
func fieldError(path string, err error) error {
	if _, ok := err.(*FieldError); err == nil || ok {
		return err
	}
	return &FieldError{Path: path, Message: "cannot be saved: " + err.Error()}
}

func (f *File) put(doc *document, t target, path string, value any) ([]byte, error) {
	if t.section.field == nil {
		return f.putSection(doc, t, path, value)
	}
	if value == nil || value == "" && t.section.field.Kind == String {
		return doc.unset(t.path)
	}
	value, err := f.accept(doc, t.section.field, path, value)
	if err != nil {
		return nil, err
	}
	if t.fresh {
		// The new entry and its first value go in as one.
		entry := map[string]any{"name": t.name}
		at := entry
		for _, step := range t.path[t.entry : len(t.path)-1] {
			next := map[string]any{}
			at[step.(string)], at = next, next
		}
		at[t.path[len(t.path)-1].(string)] = value
		return doc.set(t.path[:t.entry], entry)
	}
	return doc.set(t.path, value)
}

// accept checks a value and seals it where it is a secret.
func (f *File) accept(doc *document, field *Field, path string, value any) (any, error) {
	value, wrong := field.convert(value)
	if wrong != "" {
		return nil, &FieldError{Path: path, Message: wrong}
	}
	if field.Path == "permissions.directories" {
		if _, bad := permissions.ParseRules(stringList(value)); len(bad) > 0 {
			return nil, &FieldError{Path: path, Message: fmt.Sprintf("has a line that is no rule: line %d (%s): %s", bad[0].Line, bad[0].Text, bad[0].Message), Lines: bad}
		}
	}
	if field.Kind != Secret {
		return value, nil
	}
	secret := value.(string)
	switch {
	case secret == "" || strings.Trim(secret, "*•") == "":
		return nil, &FieldError{Path: path, Message: "is a secret and is not overwritten with an empty or masked value; to take it out, delete it"}
	case secrets.IsSealed(secret):
		if _, err := f.config.Secrets.Unseal(secret); err != nil {
			return nil, &FieldError{Path: path, Message: "is sealed with another key; give the plain value"}
		}
		return secret, nil
	case !doc.root.member("secrets").flag("encrypt", true):
		f.config.Secrets.Add(secret)
		return secret, nil
	}
	sealed, err := f.config.Secrets.Seal(secret)
	if err != nil {
		return nil, &FieldError{Path: path, Message: "cannot be saved: " + err.Error()}
	}
	return sealed, nil
}

func stringList(v any) []string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, e := range list {
		out[i], _ = e.(string)
	}
	return out
}

// putSection sets several settings by one table.
func (f *File) putSection(doc *document, t target, path string, value any) ([]byte, error) {
	m, ok := value.(map[string]any)
	if !ok || t.section.list {
		return nil, sectionError(path, t)
	}
	isMap := t.section.star != nil && t.section.star.field != nil
	var edits []Edit
	if n := doc.find(t.path...); isMap && n != nil && n.kind == tableNode {
		for _, k := range n.keys {
			if _, stays := m[k]; !stays {
				edits = append(edits, Edit{Op: Unset, Path: Join(path, k)})
			}
		}
	}
	for _, k := range sortedKeys(m) {
		if isMap && t.section.star.field.Kind == Secret && masked(m[k]) && doc.find(join(t.path, k)...) != nil {
			continue
		}
		edits = append(edits, Edit{Op: Put, Path: Join(path, k), Value: m[k]})
	}
	data := doc.data
	for _, e := range edits {
		var err error
		if data, err = f.applyEdit(doc, e); err != nil {
			return nil, err
		}
		if doc, err = parse(data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// masked reports whether a value of a map stands for "keep what is there".
func masked(v any) bool {
	s, ok := v.(string)
	return ok && s != "" && strings.Trim(s, "*•") == ""
}

func (f *File) add(doc *document, t target, path string, value any) ([]byte, error) {
	if field := t.section.field; field != nil && field.Kind == Array {
		list := []any{}
		if n := doc.find(t.path...); n != nil {
			old, wrong := field.convert(n.plain())
			if wrong != "" {
				return nil, &FieldError{Path: path, Message: "in the file " + wrong + "; repair it first"}
			}
			list = slices.Clone(old.([]any))
		}
		if slices.Contains(list, value) {
			return doc.data, nil
		}
		return f.put(doc, t, path, append(list, value))
	}
	if t.name == "" || len(t.path) != t.entry || t.section.field != nil {
		return nil, &FieldError{Path: path, Message: "is no entry that can be added; name one, such as providers.work"}
	}
	if t.fresh {
		return doc.set(t.path, map[string]any{"name": t.name})
	}
	return doc.addTable(t.path)
}

func (f *File) remove(doc *document, t target, path string, value any) ([]byte, error) {
	if field := t.section.field; field != nil && field.Kind == Array && value != nil {
		n := doc.find(t.path...)
		if n == nil || n.kind != arrayNode {
			return doc.data, nil
		}
		list := slices.DeleteFunc(n.plain().([]any), func(e any) bool { return same(e, value) })
		return doc.set(t.path, list)
	}
	if t.section.field == nil && len(t.path) != t.entry {
		return nil, sectionError(path, t)
	}
	if t.fresh || doc.find(t.path...) == nil {
		return nil, &FieldError{Path: path, Message: "is not in the file", Unknown: true}
	}
	return doc.unset(t.path)
}
