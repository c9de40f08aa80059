package services

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"zeroclaw/tools/atomicfile"
)

// readSmall reads a regular file of at most maxManifest bytes.
func readSmall(file string) ([]byte, error) {
	data, err := atomicfile.Read(file, maxManifest)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s is missing: %w", filepath.Base(file), os.ErrNotExist)
	case errors.Is(err, atomicfile.ErrNotRegular):
		return nil, errors.New("it is not a regular file")
	case errors.Is(err, atomicfile.ErrTooLong):
		return nil, fmt.Errorf("it is larger than %d bytes", maxManifest)
	case err != nil:
		return nil, fmt.Errorf("reading it: %w", err)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// strictJSON decodes exactly one JSON value and turns an error into one with a
// line. A member that is there twice is an error: which of them counts is not
// what a person sees.
func strictJSON(file string, data []byte, into any) *ManifestError {
	err := json.Unmarshal(data, into)
	if err == nil {
		if name, line := repeated(data); line > 0 {
			return &ManifestError{File: file, Line: line, Message: fmt.Sprintf("%q is there twice: keep one", name)}
		}
		return nil
	}
	e := &ManifestError{File: file, Message: strings.TrimPrefix(err.Error(), "json: ")}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		e.Line = lineAt(data, syntax.Offset)
		e.Message = "it is not valid JSON: " + syntax.Error()
	case errors.As(err, &kind):
		e.Line = lineAt(data, kind.Offset)
		e.Message = fmt.Sprintf("%s cannot be a JSON %s", orName(kind.Field, "this"), kind.Value)
	}
	return e
}

// repeated returns the first member of an object in valid JSON that has the name
// of an earlier one, and its line; 0 = there is none. encoding/json takes names
// in any case, but the names in an env are the program's own.
func repeated(data []byte) (name string, line int) {
	type object struct {
		seen  map[string]bool // nil: an array
		exact bool
		value bool // a value comes next, not a name
		last  string
	}
	var open []*object
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		t, err := d.Token()
		if err != nil {
			return "", 0
		}
		var in *object
		if len(open) > 0 {
			in = open[len(open)-1]
		}
		if delim, ok := t.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if in != nil && in.seen != nil {
			if in.value = !in.value; in.value {
				in.last = t.(string)
				key := in.last
				if !in.exact {
					key = strings.ToLower(key)
				}
				if in.seen[key] {
					return in.last, lineAt(data, d.InputOffset())
				}
				in.seen[key] = true
				continue
			}
		}
		switch t {
		case json.Delim('{'):
			open = append(open, &object{seen: map[string]bool{}, exact: in != nil && in.last == "env"})
		case json.Delim('['):
			open = append(open, &object{})
		}
	}
}

func orName(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(int(offset), 0), len(data))], []byte("\n"))
}

// lineOf finds the line of a member (string) or element (int) of a JSON
// document, or of the nearest one around it that exists.
func lineOf(data []byte, path []any) int {
	offset := int64(0)
	part := data
	base := int64(0)
	for _, step := range path {
		from, to, ok := child(part, step)
		if !ok {
			break
		}
		offset = base + from
		base, part = base+from, part[from:to]
	}
	skip := int64(len(data[offset:]) - len(bytes.TrimLeft(data[offset:], " \t\r\n:,")))
	return lineAt(data, offset+skip)
}

// child returns where one member or element of a JSON value is.
func child(data []byte, step any) (from, to int64, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil {
		return 0, 0, false
	}
	for i := 0; d.More(); i++ {
		found := step == i && t == json.Delim('[')
		if t == json.Delim('{') {
			k, err := d.Token()
			if err != nil {
				return 0, 0, false
			}
			found = k == step
		} else if t != json.Delim('[') {
			return 0, 0, false
		}
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return 0, 0, false
		}
		if found {
			to = d.InputOffset()
			// The value begins after the colon or comma.
			from = to - int64(len(skip))
			return from, to, true
		}
	}
	return 0, 0, false
}
