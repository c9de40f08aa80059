package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a setting, as the API names it.
type Kind string

// The kinds. An Array holds strings; an Object is JSON; a Secret is a string
// that never leaves the process and is sealed in the file.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Array   Kind = "array"
	Object  Kind = "object"
	Secret  Kind = "secret"
)

// Applies says when a change of a setting takes effect.
type Applies string

// When changes count: from the next call on, for sessions opened from now on,
// or when the companion is started again.
const (
	Live        Applies = "live"
	NewSessions Applies = "new_sessions"
	Restart     Applies = "restart"
)

// Field is one setting.
type Field struct {
	// Path is dotted; * stands for the name of an entry, as in
	// "providers.*.model".
	Path string
	Kind Kind
	// Default is a string, int64, bool or []any, nil for none.
	Default  any
	Min, Max int64    // Integer, both inclusive
	Enum     []string // String: the only values
	// Check says what is wrong with a value that fits otherwise, "" for nothing.
	Check   func(v any) string
	Applies Applies
	En, Es  string // help: one sentence
}

// lists are the sections that the file writes as [[…]] and paths address by
// the name in each.
var lists = map[string]bool{"mcp.servers": true}

// section is one level of the schema.
type section struct {
	path  string // pattern
	kids  map[string]*section
	order []string // keys of kids in the order of Fields
	star  *section // entries under any name
	list  bool
	field *Field // a setting; nil for a table
}

// schema is Fields as a tree.
var schema = buildSchema(Fields())

func buildSchema(fields []Field) *section {
	root := &section{kids: map[string]*section{}}
	for i := range fields {
		f := &fields[i]
		at := root
		parts := strings.Split(f.Path, ".")
		for j, part := range parts {
			path := strings.Join(parts[:j+1], ".")
			var next *section
			if part == "*" {
				next = at.star
			} else {
				next = at.kids[part]
			}
			if next == nil {
				next = &section{path: path, kids: map[string]*section{}, list: lists[path]}
				if part == "*" {
					at.star = next
				} else {
					at.kids[part] = next
					at.order = append(at.order, part)
				}
			}
			at = next
		}
		at.field = f
	}
	return root
}

// convert makes a value of the field out of one that came as TOML or JSON:
// string, bool, int64, float64, []any, map[string]any. The message says what
// is wrong.
func (f *Field) convert(v any) (out any, wrong string) {
	switch f.Kind {
	case String, Secret:
		s, ok := v.(string)
		if !ok {
			return nil, "must be text in quotes, not " + describe(v)
		}
		if strings.ContainsRune(s, 0) {
			return nil, "must not hold a NUL character"
		}
		if f.Enum != nil && !slices.Contains(f.Enum, s) {
			wrong := fmt.Sprintf("must be %s, not %q", alternatives(f.Enum), shorten(s))
			if near := nearest(s, f.Enum); near != "" {
				wrong += fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, wrong
		}
		out = s
	case Boolean:
		b, ok := v.(bool)
		if !ok {
			return nil, "must be true or false, not " + describe(v)
		}
		out = b
	case Integer:
		n, ok := v.(int64)
		if !ok {
			return nil, fmt.Sprintf("must be a whole number from %d to %d, not %s", f.Min, f.Max, describe(v))
		}
		if n < f.Min || n > f.Max {
			return nil, fmt.Sprintf("must be from %d to %d, not %d", f.Min, f.Max, n)
		}
		out = n
	case Array:
		list, ok := v.([]any)
		if !ok {
			return nil, "must be a list of texts, not " + describe(v)
		}
		for i, e := range list {
			if _, ok := e.(string); !ok {
				return nil, fmt.Sprintf("must hold only texts, but entry %d is %s", i+1, describe(e))
			}
		}
		out = list
	case Object:
		out = v
	}
	if f.Check != nil {
		if wrong := f.Check(out); wrong != "" {
			return nil, wrong
		}
	}
	return out, ""
}

// shorten cuts a value for a message.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

func alternatives(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// nearest is the candidate that s most likely means, "" for none.
func nearest(s string, candidates []string) string {
	best, bestCost := "", len(s)/2+1
	lower := strings.ToLower(s)
	for _, c := range candidates {
		cost := distance(lower, strings.ToLower(c))
		if len(s) >= 3 && (strings.HasPrefix(c, lower) || strings.HasPrefix(lower, c)) {
			cost = min(cost, 1)
		}
		if cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

// distance is the Levenshtein distance, with a swap of neighbours as one step.
// Long words count as far apart, so that hostile names cost nothing.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// names are the fixed names of a section.
func (s *section) names() []string { return sortedKeys(s.kids) }
