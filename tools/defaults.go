package tools

import (
	"bytes"
	"encoding/json"
	"slices"

	"zeroclaw/tools/jsonparts"
)

// withDefaults adds the arguments that a schema requires although it gives them
// a default: generators of schemas write that for what may be left out. It is
// done before a question, so that what runs is what was shown. Anything odd is
// left for Check to tell of.
func withDefaults(schema, args json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte("default")) && bytes.IndexByte(schema, '\\') < 0 {
		return args // nothing is named so, however it is spelled
	}
	if !json.Valid(schema) || !json.Valid(args) || bytes.TrimSpace(args)[0] != '{' {
		return args
	}
	var required []string
	defaults := map[string]json.RawMessage{}
	for key, value := range jsonparts.Members(schema) {
		switch key {
		case "required":
			for name := range jsonparts.Elements(value) {
				required = append(required, jsonparts.Text(name))
			}
		case "properties":
			for name, property := range jsonparts.Members(value) {
				for k, v := range jsonparts.Members(property) {
					if k == "default" {
						defaults[name] = v
					}
				}
			}
		}
	}
	var given []string
	for name := range jsonparts.Members(args) {
		given = append(given, name)
	}
	out := bytes.TrimSpace(args)
	for _, name := range required {
		value, ok := defaults[name]
		if !ok || slices.Contains(given, name) {
			continue
		}
		key, err := json.Marshal(name)
		if err != nil {
			return args
		}
		out = bytes.TrimRight(slices.Clone(out[:len(out)-1]), " \t\r\n")
		if len(given) > 0 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, key...), ':'), value...), '}')
		given = append(given, name)
	}
	return json.RawMessage(out)
}
