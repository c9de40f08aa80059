package session

import (
	"bytes"
	"encoding/json"
	"strings"

	"zeroclaw/services"
)

// schemaOf is a schema in the form that goes to clients: an object with
// properties, which some model providers insist on.
func schemaOf(raw json.RawMessage) any {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if p := bytes.TrimSpace(fields["properties"]); len(p) > 0 && p[0] == '{' {
		return raw
	}
	fields["properties"] = json.RawMessage(`{}`)
	if _, ok := fields["type"]; !ok {
		fields["type"] = json.RawMessage(`"object"`)
	}
	return fields
}

// toolState says whether a tool of a server can be called now.
func toolState(s services.Status) string {
	switch {
	case s.State == services.Running || s.OnDemand:
		return "ready"
	case s.State == services.Starting || s.State == services.Installing:
		return "starting"
	}
	return "offline"
}

// definitionDiff shows what changed between two definitions, line by line:
// lines only in the old one with "-", only in the new one with "+".
func definitionDiff(old, now json.RawMessage) string {
	a, b := indented(old), indented(now)
	var out strings.Builder
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for i := max(0, start-2); i < start; i++ {
		out.WriteString("  " + a[i] + "\n")
	}
	for _, l := range a[start : len(a)-end] {
		out.WriteString("- " + l + "\n")
	}
	for _, l := range b[start : len(b)-end] {
		out.WriteString("+ " + l + "\n")
	}
	for i := len(a) - end; i < min(len(a), len(a)-end+2); i++ {
		out.WriteString("  " + a[i] + "\n")
	}
	return out.String()
}

// indented is JSON with sorted keys, one value a line.
func indented(raw json.RawMessage) []string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(services.SortedJSON(raw)), "", "  ") != nil {
		return []string{string(raw)}
	}
	return strings.Split(b.String(), "\n")
}
