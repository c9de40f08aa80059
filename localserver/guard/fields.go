package guard

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

const (
	shapeOpaque = iota // decodes itself or takes anything
	shapeStruct
	shapeOther
)

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func shape(t reflect.Type) int {
	t = deref(t)
	if t == nil || t.Kind() == reflect.Interface {
		return shapeOpaque
	}
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return shapeOpaque
	}
	if t.Kind() == reflect.Struct {
		return shapeStruct
	}
	return shapeOther
}

func element(t reflect.Type, kinds ...reflect.Kind) reflect.Type {
	if shape(t) != shapeOther {
		return nil
	}
	t = deref(t)
	for _, k := range kinds {
		if t.Kind() == k {
			return t.Elem()
		}
	}
	return nil
}

var fieldCache sync.Map // reflect.Type → map[string]reflect.Type

// fieldsOf lists the JSON keys of a struct as encoding/json names them.
// Embedded structs without a tag lend their fields.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if m, ok := fieldCache.Load(t); ok {
		return m.(map[string]reflect.Type)
	}
	m := map[string]reflect.Type{}
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
		case f.Anonymous && tag == "" && deref(f.Type).Kind() == reflect.Struct:
			for k, v := range fieldsOf(deref(f.Type)) {
				if _, own := m[k]; !own {
					m[k] = v
				}
			}
		case !f.IsExported():
		case tag == "":
			m[f.Name] = f.Type
		default:
			m[tag] = f.Type
		}
	}
	fieldCache.Store(t, m)
	return m
}

// jsonPath takes the Go names of embedded structs out of a path given by
// encoding/json; they are not in the JSON.
func jsonPath(t reflect.Type, path string) string {
	var out []string
	for _, part := range strings.Split(path, ".") {
		for t = deref(t); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map); {
			t = deref(t.Elem())
		}
		if t != nil && t.Kind() == reflect.Struct {
			next, ok := fieldsOf(t)[part]
			if !ok {
				continue
			}
			t = next
		}
		out = append(out, part)
	}
	return strings.Join(out, ".")
}

func describe(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
