package config

import "slices"

// minRun is how many edits are worth being made in one step.
const minRun = 8

// run is a number of simple edits that are made in one step.
type run struct {
	*editor
	want    map[string]any  // the plain values as they should become
	done    map[string]bool // paths that have their edit
	splices []splice        // in tables that stand in the file
	fresh   []*freshSection // sections that do not, in order
	byPath  map[string]*freshSection
}

// freshSection is a section that goes to the end of the file.
type freshSection struct {
	path   []any
	values map[string]any
}

// applyRun makes the first n edits at once where that is simple: values without
// parts that replace others, or go into tables that stand in the file as
// sections of their own or not at all. Each edit by itself reads the file anew,
// which for the settings of a thousand tools would take a while. n is 0 where
// the first edits are few or not so simple; then nothing is made, nor refused.
func (f *File) applyRun(doc *document, edits []Edit) (data []byte, n int) {
	if len(edits) < minRun {
		return nil, 0
	}
	r := run{editor: &editor{doc}, done: map[string]bool{}, byPath: map[string]*freshSection{}}
	r.want, _ = doc.root.plain().(map[string]any)
	for n < len(edits) && f.take(&r, edits[n]) {
		n++
	}
	if n < minRun {
		return nil, 0
	}
	block := ""
	for i, s := range r.fresh {
		if i > 0 {
			block += "\n"
		}
		block += r.renderSections(s.path, s.values, false)
	}
	if block != "" {
		r.splices = append(r.splices, r.blockSplice(len(doc.data), block))
	}
	if r.apply(r.splices...) != nil || !same(prune(r.root.plain()), prune(r.want)) {
		return nil, 0
	}
	return r.data, n
}

// take takes an edit into the run, or reports that it has to be made by itself.
func (f *File) take(r *run, e Edit) bool {
	t, err := resolve(r.root, e.Path)
	value, plainErr := plainValue(e.Value)
	if err != nil || plainErr != nil || e.Op != Put || value == nil || value == "" || r.done[e.Path] {
		return false
	}
	field := t.section.field
	if field == nil || !slices.Contains([]Kind{String, Integer, Boolean}, field.Kind) || t.section.path == "mcp.servers.*.name" {
		return false
	}
	if t.name != "" && entrySection(t).checkEntry(t.name) != "" {
		return false
	}
	if value, err = f.accept(r.document, field, e.Path, value); err != nil {
		return false
	}
	if !r.plan(t.path, value) {
		return false
	}
	r.done[e.Path] = true
	return true
}

// plan notes how the value at path changes.
func (r *run) plan(path []any, value any) bool {
	last := len(path) - 1
	key, ok := path[last].(string)
	if !ok || slices.ContainsFunc(path, func(step any) bool { _, isKey := step.(string); return !isKey }) {
		return false
	}
	text, err := renderValue(value)
	if err != nil {
		return false
	}
	n, depth := r.walk(path)
	switch {
	case depth == len(path) && n.kind == scalarNode:
		if s, ok := value.(string); ok {
			text = renderLike(r.data[n.start:n.end], s)
		}
		r.splices = append(r.splices, splice{n.start, n.end, text})
	case n.kind != tableNode || n.from == byInline || n.from == byDots:
		return false
	case depth == last:
		if n.from != byHeader || n.parent == nil {
			return false
		}
		line, ok := r.lineSplice(n, nil, renderKey(key), text)
		if !ok {
			return false
		}
		r.splices = append(r.splices, line)
	case depth < last:
		name := renderKeys(path[:last])
		s := r.byPath[name]
		if s == nil {
			s = &freshSection{path[:last], map[string]any{}}
			r.byPath[name], r.fresh = s, append(r.fresh, s)
		}
		s.values[key] = value
	default:
		return false
	}
	m := r.want
	for _, step := range path[:last] {
		next, ok := m[step.(string)].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[step.(string)] = next
		}
		m = next
	}
	m[key] = value
	return true
}
