package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// setPlain makes the change of set on plain values.
func setPlain(root any, path []any, v any) any {
	if len(path) == 0 {
		return v
	}
	switch step := path[0].(type) {
	case int:
		list, _ := root.([]any)
		list = slices.Clone(list)
		if step >= len(list) {
			return append(list, setPlain(nil, path[1:], v))
		}
		list[step] = setPlain(list[step], path[1:], v)
		return list
	default:
		m, _ := root.(map[string]any)
		out := make(map[string]any, len(m)+1)
		for k, kid := range m {
			out[k] = kid
		}
		key := step.(string)
		out[key] = setPlain(m[key], path[1:], v)
		return out
	}
}

// unsetPlain makes the change of unset on plain values; drop says that an array
// that becomes empty goes too.
func unsetPlain(root any, path []any, drop bool) any {
	switch step := path[0].(type) {
	case int:
		list, ok := root.([]any)
		if !ok || step >= len(list) {
			return root
		}
		list = slices.Clone(list)
		if len(path) == 1 {
			list = slices.Delete(list, step, step+1)
			if len(list) == 0 && drop {
				return nil
			}
			return list
		}
		list[step] = unsetPlain(list[step], path[1:], drop)
		return list
	default:
		m, ok := root.(map[string]any)
		key := step.(string)
		if _, has := m[key]; !ok || !has {
			return root
		}
		out := make(map[string]any, len(m))
		for k, kid := range m {
			out[k] = kid
		}
		if len(path) == 1 {
			delete(out, key)
			return out
		}
		if kid := unsetPlain(m[key], path[1:], drop); kid == nil {
			delete(out, key)
		} else {
			out[key] = kid
		}
		return out
	}
}

// describe names a kind of value for people.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a decimal number"
	case dateTime:
		return "a date or time"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", v), "config.")
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// same compares two plain values; a NaN equals itself.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !same(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

// prune drops empty tables: whether one stands in the file says nothing, and
// taking out a dotted key takes its parents along.
func prune(v any) any {
	if list, ok := v.([]any); ok {
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = prune(e)
		}
		return out
	}
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, kid := range m {
		kid = prune(kid)
		if t, ok := kid.(map[string]any); ok && len(t) == 0 {
			continue
		}
		out[k] = kid
	}
	return out
}
