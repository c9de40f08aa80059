package config

import (
	"math"
	"strings"
)

// Prop is one setting as the API and the command line show it. A secret never
// has a Value.
type Prop struct {
	Path      string `json:"path"`
	Value     any    `json:"value,omitempty"`
	Kind      Kind   `json:"kind"`
	Populated bool   `json:"populated"`          // something is set, in the file or the environment
	Default   bool   `json:"default"`            // Value is the default
	Override  string `json:"override,omitempty"` // the environment variable that decides
}

// List shows every setting at or below prefix ("" for all), those of entries
// that exist included, in the order of Fields and of the file.
func (s *Settings) List(prefix string) []Prop {
	props := []Prop{}
	s.walk(s.root, schema, "", func(p Prop) {
		if prefix == "" || p.Path == prefix || strings.HasPrefix(p.Path, prefix+".") {
			props = append(props, p)
		}
	})
	return props
}

// Get shows one setting. A whole map of secrets answers as one secret. The
// error is a *FieldError.
func (s *Settings) Get(path string) (Prop, error) {
	t, err := resolve(s.root, path)
	if err != nil {
		return Prop{}, err
	}
	n, depth := (&document{root: s.root}).walk(t.path)
	if depth < len(t.path) {
		n = nil
	}
	if t.section.field != nil {
		if t.fresh || n == nil && t.entry > 0 && depth < t.entry && !s.builtin(t) {
			return Prop{}, &FieldError{Path: path, Message: "belongs to an entry that does not exist", Unknown: true}
		}
		return prop(n, t.section.field, path), nil
	}
	if star := t.section.star; star != nil && star.field != nil && star.field.Kind == Secret {
		return Prop{Path: path, Kind: Secret, Populated: n != nil && len(n.keys) > 0}, nil
	}
	return Prop{}, sectionError(path, t)
}

// builtin reports whether t lies in an entry that needs no file.
func (s *Settings) builtin(t target) bool {
	return t.name == builtinAgent && strings.HasPrefix(t.section.path, "agents.")
}

func (s *Settings) walk(n *node, sec *section, path string, emit func(Prop)) {
	if sec.field != nil {
		emit(prop(n, sec.field, path))
		return
	}
	for _, key := range sec.order {
		s.walk(n.member(key), sec.kids[key], Join(path, key), emit)
	}
	if sec.star == nil {
		return
	}
	if sec.path == "agents" && n.member(builtinAgent) == nil {
		s.walk(nil, sec.star, Join(path, builtinAgent), emit)
	}
	if n == nil {
		return
	}
	if sec.list {
		for _, e := range n.elems {
			if own := e.member("name"); own != nil {
				if name, ok := own.value.(string); ok {
					s.walk(e, sec.star, Join(path, name), emit)
				}
			}
		}
		return
	}
	for _, key := range n.keys {
		s.walk(n.kids[key], sec.star, Join(path, key), emit)
	}
}

func prop(n *node, f *Field, path string) Prop {
	p := Prop{Path: path, Kind: f.Kind}
	if n == nil {
		if f.Kind != Secret && f.Default != nil {
			p.Value, p.Default = f.Default, true
		}
		return p
	}
	p.Override = n.env
	p.Populated = true
	if s, ok := n.value.(string); ok && s == "" {
		p.Populated = false
	}
	if f.Kind != Secret {
		p.Value = jsonable(n.plain())
	}
	return p
}

// jsonable replaces what JSON cannot hold.
func jsonable(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return renderFloat(v)
		}
	case []any:
		for i, e := range v {
			v[i] = jsonable(e)
		}
	case map[string]any:
		for k, e := range v {
			v[k] = jsonable(e)
		}
	}
	return v
}
