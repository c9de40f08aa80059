package mcpserver

import (
	"encoding/json"
	"strings"

	"zeroclaw/tools/jsonparts"
)

// Clients that check a list of tools throw all of it away for one definition that
// is not as the protocol has it. Where tools of many servers stand in one list,
// what a server does not get right is put right here; calls are checked against
// what it said.

// inputSchema is a schema of arguments as clients take it: the one that the server
// sent, wherever that will do.
func inputSchema(raw json.RawMessage) json.RawMessage {
	if objectSchema(raw) {
		return raw
	}
	out := []byte(`{"type":"object"`)
	seen := map[string]bool{"type": true}
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "properties":
			value = properties(value)
		case "required":
			value = texts(value)
		}
		if seen[key] || value == nil {
			continue
		}
		seen[key] = true
		out = append(append(appendText(append(out, ','), key), ':'), value...)
	}
	return append(out, '}')
}

// outputSchema is a schema of results as clients of a revision take it, nil where
// none is better: those with sessions know results that are objects only.
func outputSchema(raw json.RawMessage, version string) json.RawMessage {
	switch kind := member(raw, "type"); {
	case !isObject(raw):
		return nil
	case version == modernVersion:
		return raw
	case kind != nil && jsonparts.Text(kind) != "object":
		return nil
	}
	return inputSchema(raw)
}

// annotations are those that clients take, nil for none.
func annotations(raw json.RawMessage) json.RawMessage {
	out := []byte("{")
	same := true
	for key, value := range jsonparts.Members(raw) {
		if key == "title" && !isText(value) || strings.HasSuffix(key, "Hint") && string(value) != "true" && string(value) != "false" {
			same = false
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, key), ':'), value...)
	}
	switch {
	case !isObject(raw):
		return nil
	case same:
		return raw
	}
	return append(out, '}')
}

// objectSchema reports whether a schema is one of an object, with parts of the
// kinds that clients look at.
func objectSchema(raw json.RawMessage) bool {
	kinds := 0
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "type":
			if kinds++; jsonparts.Text(value) != "object" {
				return false
			}
		case "properties":
			if !isObject(value) {
				return false
			}
			for _, one := range jsonparts.Members(value) {
				if !isObject(one) {
					return false
				}
			}
		case "required":
			if value[0] != '[' {
				return false
			}
			for one := range jsonparts.Elements(value) {
				if !isText(one) {
					return false
				}
			}
		}
	}
	return kinds == 1
}

// properties writes schemas that are true or false, which clients do not take, as
// the objects that mean the same. What is no schema takes everything.
func properties(raw json.RawMessage) json.RawMessage {
	if !isObject(raw) {
		return nil
	}
	out := []byte("{")
	for key, value := range jsonparts.Members(raw) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		switch {
		case string(value) == "false":
			value = json.RawMessage(`{"not":{}}`)
		case !isObject(value):
			value = json.RawMessage(`{}`)
		}
		out = append(append(appendText(out, key), ':'), value...)
	}
	return append(out, '}')
}

// texts are the texts of a list, nil for what is no list.
func texts(raw json.RawMessage) json.RawMessage {
	if raw[0] != '[' {
		return nil
	}
	out := []byte("[")
	for one := range jsonparts.Elements(raw) {
		if !isText(one) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	return append(out, ']')
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
func isText(raw json.RawMessage) bool   { return raw[0] == '"' }
