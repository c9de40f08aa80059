package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays of a request may nest.
const MaxDepth = 64

// FieldError says which field of a JSON value is to blame, as a path
// ("messages[2].role"; "" is the whole value), and why.
type FieldError struct{ Field, Message string }

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// CheckJSON accepts exactly one JSON value (RFC 8259) in valid UTF-8, nested
// at most MaxDepth, in which no object has the same key twice. encoding/json
// would take the last of two equal keys, and other readers the first, so that
// what was judged and what is run could differ.
func CheckJSON(text []byte) *FieldError {
	_, f := parse(text, nil)
	return f
}

// DecodeBytes decodes one JSON value into what into points to. On top of
// CheckJSON, objects that decode into structs must spell their keys exactly:
// unknown keys and keys that differ from a field only in case are refused.
// json.RawMessage, maps and any take any keys.
func DecodeBytes(text []byte, into any) *FieldError {
	t := reflect.TypeOf(into)
	if t == nil || t.Kind() != reflect.Pointer {
		panic("guard: DecodeBytes needs a pointer")
	}
	kind, f := parse(text, t.Elem())
	if f != nil {
		return f
	}
	if shape(t.Elem()) == shapeStruct && kind != '{' {
		return &FieldError{"", "it must be a JSON object"}
	}
	if err := json.Unmarshal(text, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return &FieldError{jsonPath(t.Elem(), wrong.Field), "a JSON " + wrong.Value + " is not what belongs here; send " + describe(wrong.Type)}
		}
		return &FieldError{"", "the JSON cannot be used: " + err.Error()}
	}
	return nil
}

// parse checks the grammar, then walks the value along type t (nil: any).
// It returns the first byte of the value.
func parse(text []byte, t reflect.Type) (byte, *FieldError) {
	if len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return 0, &FieldError{"", "it is empty; send a JSON object, at least {}"}
	}
	if !utf8.Valid(text) {
		return 0, &FieldError{"", "the JSON is not valid UTF-8"}
	}
	// The depth comes first: the walk below and json.Unmarshal recurse.
	if tooDeep(text) {
		return 0, &FieldError{"", fmt.Sprintf("the JSON nests deeper than %d levels", MaxDepth)}
	}
	if !json.Valid(text) {
		var raw json.RawMessage
		var syntax *json.SyntaxError
		if err := json.Unmarshal(text, &raw); errors.As(err, &syntax) {
			line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
			return 0, &FieldError{"", fmt.Sprintf("this is not one JSON value: %s (line %d, byte %d)", syntax, line, syntax.Offset)}
		}
		return 0, &FieldError{"", "this is not one JSON value"}
	}
	w := walker{text: text}
	w.space()
	kind := text[w.at]
	return kind, w.value(t, nil)
}

// tooDeep counts brackets outside strings. On text that is not JSON its answer
// means nothing, and json.Valid refuses that text anyway.
func tooDeep(text []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// walker goes through text that json.Valid has accepted.
type walker struct {
	text []byte
	at   int
}

// step is one part of the path to where the walker is, linked to its parent so
// that a path costs nothing until an error needs it.
type step struct {
	up    *step
	key   string
	index int // of an array element when key is ""
}

func (s *step) path(last string) string {
	var parts []string
	for ; s != nil; s = s.up {
		if s.key != "" {
			parts = append(parts, "."+s.key)
		} else {
			parts = append(parts, "["+strconv.Itoa(s.index)+"]")
		}
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	if last != "" {
		b.WriteString("." + last)
	}
	return strings.TrimPrefix(b.String(), ".")
}

func (w *walker) space() {
	for w.at < len(w.text) {
		switch w.text[w.at] {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return
		}
	}
}

func (w *walker) value(t reflect.Type, up *step) *FieldError {
	w.space()
	switch w.text[w.at] {
	case '{':
		return w.object(t, up)
	case '[':
		return w.array(t, up)
	case '"':
		w.str()
	default:
		for w.at < len(w.text) && !strings.ContainsRune(",]} \t\r\n", rune(w.text[w.at])) {
			w.at++
		}
	}
	return nil
}

// str passes a string and returns it undecoded, without quotes.
func (w *walker) str() []byte {
	start := w.at + 1
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.text[start : w.at-1]
}

func (w *walker) array(t reflect.Type, up *step) *FieldError {
	elem := element(t, reflect.Slice, reflect.Array)
	here := &step{up: up}
	w.at++
	for w.space(); w.text[w.at] != ']'; w.space() {
		if f := w.value(elem, here); f != nil {
			return f
		}
		here.index++
		w.space()
		if w.text[w.at] == ',' {
			w.at++
		}
	}
	w.at++
	return nil
}

func (w *walker) object(t reflect.Type, up *step) *FieldError {
	var fields map[string]reflect.Type
	var elem reflect.Type
	if shape(t) == shapeStruct {
		fields = fieldsOf(deref(t))
	} else {
		elem = element(t, reflect.Map)
	}
	here := &step{up: up}
	var keys seen
	w.at++
	for w.space(); w.text[w.at] != '}'; w.space() {
		key := unquote(w.str())
		if keys.add(key) {
			return &FieldError{up.path(key), "the key is there twice; send it once"}
		}
		next := elem
		if fields != nil {
			ft, ok := fields[key]
			if !ok {
				return &FieldError{up.path(key), unknownKey(key, fields)}
			}
			next = ft
		}
		w.space()
		w.at++ // the colon
		here.key = key
		if key == "" {
			here.key = `""`
		}
		if f := w.value(next, here); f != nil {
			return f
		}
		w.space()
		if w.text[w.at] == ',' {
			w.at++
		}
	}
	w.at++
	return nil
}

func unknownKey(key string, fields map[string]reflect.Type) string {
	for name := range fields {
		if strings.EqualFold(name, key) {
			return "no such field; it is spelled " + strconv.Quote(name)
		}
	}
	return "no such field here; remove it"
}

// unquote decodes the escapes of a valid JSON string.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var s string
	// Cannot fail: json.Valid has accepted it.
	_ = json.Unmarshal([]byte(`"`+string(raw)+`"`), &s)
	return s
}

// seen is a set of keys that stays off the heap's maps while it is small.
type seen struct {
	few  []string
	many map[string]struct{}
}

func (s *seen) add(key string) (already bool) {
	if s.many != nil {
		_, already = s.many[key]
		s.many[key] = struct{}{}
		return already
	}
	for _, k := range s.few {
		if k == key {
			return true
		}
	}
	s.few = append(s.few, key)
	if len(s.few) > 16 {
		s.many = make(map[string]struct{}, 64)
		for _, k := range s.few {
			s.many[k] = struct{}{}
		}
	}
	return false
}
