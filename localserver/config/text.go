package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseText reads a value as the command line and the environment write it:
// true or false, an integer, text, a list as JSON or with commas, JSON. Empty
// removes: nil. The message says what is wrong and never holds a secret.
func (f *Field) parseText(text string) (value any, wrong string) {
	if text == "" {
		return nil, ""
	}
	switch f.Kind {
	case Boolean:
		switch text {
		case "true":
			value = true
		case "false":
			value = false
		default:
			return nil, "must be true or false"
		}
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Sprintf("must be a whole number from %d to %d", f.Min, f.Max)
		}
		value = n
	case Array:
		if strings.HasPrefix(strings.TrimSpace(text), "[") {
			v, err := fromJSON([]byte(text))
			if err != nil {
				return nil, "begins with [ but is no list in JSON"
			}
			value = v
			break
		}
		list := []any{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		value = list
	case Object:
		v, err := fromJSON([]byte(text))
		if err != nil {
			return nil, "must be JSON"
		}
		value = v
	default:
		value = text
	}
	return f.convert(value)
}

// parseTextMap reads a JSON object for a map of which each value is a field.
func parseTextMap(f *Field, text string) (value any, wrong string) {
	if text == "" {
		return nil, ""
	}
	v, err := fromJSON([]byte(text))
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, "must be an object in JSON"
	}
	for k, kid := range m {
		if m[k], wrong = f.convert(kid); wrong != "" {
			return nil, fmt.Sprintf("entry %q %s", k, wrong)
		}
	}
	return m, ""
}

// fromJSON decodes one JSON value into plain values.
func fromJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return plainValue(v)
}

// plainValue turns what a JSON decoder or a caller in Go gives into plain
// values. A whole number written as 3.0 counts as one.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
		return v, nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %.20s is too large", v)
		}
		return plainValue(f)
	case json.RawMessage:
		return fromJSON(v)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list, nil
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			var err error
			if list[i], err = plainValue(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]string:
		m := make(map[string]any, len(v))
		for k, s := range v {
			m[k] = s
		}
		return m, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			var err error
			if m[k], err = plainValue(e); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, fmt.Errorf("a value of type %T is not understood", v)
}
