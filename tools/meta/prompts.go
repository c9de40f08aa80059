package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
	"zeroclaw/tools/results"
)

// Prompts is the tool mcp_prompts: it lists and gets the prompts of servers,
// named <server>__<name>.
type Prompts struct {
	Remote Remote
	Frames results.Framer
}

var prompts = kind{plural: "prompts", label: "name"}

var promptsSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
"action":{"type":"string","description":"Required: list or get"},
"server":{"type":"string","description":"list: only this server's; with it, further pages"},
"cursor":{"type":"string","description":"list: next_cursor of the page before, with server"},
"name":{"type":"string","description":"get: the name as listed, SERVER__NAME"},
"arguments":{"type":"object","description":"get: the prompt's arguments, as listed"}}}`)

// Spec implements tools.Tool.
func (Prompts) Spec() tools.Spec {
	return tools.Spec{
		Name: "mcp_prompts", OwnName: "mcp_prompts", Origin: permissions.OriginLocal, Title: "Prompts of MCP servers",
		Description: "Lists and gets the prompts that MCP servers offer: texts prepared for a task. Get takes a name exactly as list gave it.",
		InputSchema: promptsSchema,
	}
}

// Run implements tools.Tool.
func (t Prompts) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	var in struct {
		Action    *string                    `json:"action"`
		Server    string                     `json:"server"`
		Cursor    string                     `json:"cursor"`
		Name      string                     `json:"name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(args, &in) != nil {
		return failure("arguments must be an object"), nil
	}
	switch {
	case in.Action == nil:
		return failure("missing required `action` (list|get)"), nil
	case *in.Action == "list":
		return listing(ctx, prompts, t.Remote, in.Server, in.Cursor), nil
	case *in.Action == "get" && asItCame(ctx):
		return passed(ctx, t.Remote, "prompts/get", in.Name, func(own string) any { return promptParams(own, in.Arguments) })
	case *in.Action == "get":
		return t.get(ctx, in.Name, in.Arguments), nil
	}
	return failure("unknown action `%s` (expected list|get)", quoted(*in.Action)), nil
}

func (t Prompts) get(ctx context.Context, name string, args map[string]json.RawMessage) tools.Result {
	if strings.TrimSpace(name) == "" {
		return failure("`get` requires a non-empty `name`")
	}
	server, own, refusal := split(t.Remote, name)
	switch {
	case refusal != "":
		return failure("%s", refusal)
	case own == "":
		return failure("`get` requires a non-empty `name`")
	case !t.Remote.Reaches(server, own):
		return prompts.refused("getting a prompt", server, errNotReached)
	}
	params, err := json.Marshal(promptParams(own, args))
	if err != nil {
		return prompts.refused("getting a prompt", server, err)
	}
	raw, err := t.Remote.Request(ctx, server, "prompts/get", params)
	if err == nil && !json.Valid(raw) {
		err = errNoJSON
	}
	if err != nil {
		return prompts.refused("getting a prompt", server, err)
	}
	return tools.Text(t.Frames.Prompt(server, server+separator+own, messages(raw)))
}

// promptParams are the parameters of prompts/get. The protocol takes texts only.
func promptParams(name string, args map[string]json.RawMessage) any {
	texts := map[string]string{}
	for key, value := range args {
		if len(value) > 0 && value[0] == '"' {
			texts[key] = jsonparts.Text(value)
		} else if string(value) != "null" {
			texts[key] = string(value)
		}
	}
	return struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}{name, texts}
}

// messages writes the messages of a prompt, one after the other.
func messages(raw json.RawMessage) string {
	var lines []string
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "description":
			if text := jsonparts.Text(value); text != "" {
				lines = append(lines, "("+text+")")
			}
		case "messages":
			for one := range jsonparts.Elements(value) {
				role, said := "", ""
				for key, value := range jsonparts.Members(one) {
					switch key {
					case "role":
						role = tools.ModelText(jsonparts.Text(value), 40)
					case "content":
						said = spoken(value)
					}
				}
				lines = append(lines, "["+role+"] "+said)
			}
		}
	}
	if len(lines) == 0 {
		return "(empty)"
	}
	return strings.Join(lines, "\n")
}

// spoken is what a message says; of what is no text, what it is.
func spoken(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '[' { // newer revisions allow several
		var all []string
		for one := range jsonparts.Elements(raw) {
			all = append(all, spoken(one))
		}
		return strings.Join(all, "\n")
	}
	kind, text, uri, name, mime := "", "", "", "", ""
	var data, resource json.RawMessage
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "type":
			kind = jsonparts.Text(value)
		case "text":
			text = jsonparts.Text(value)
		case "uri":
			uri = jsonparts.Text(value)
		case "name":
			name = jsonparts.Text(value)
		case "mimeType":
			mime = tools.ModelText(jsonparts.Text(value), 100)
		case "data":
			data = value
		case "resource":
			resource = value
		}
	}
	switch kind {
	case "text":
		return text
	case "image", "audio":
		return fmt.Sprintf("[%s, %d bytes, mime=%s]", kind, results.Base64Size(data), mime)
	case "resource_link":
		return fmt.Sprintf("[link to resource %s %s]", name, uri)
	case "resource":
		for key, value := range jsonparts.Members(resource) {
			if key == "uri" {
				uri = jsonparts.Text(value)
			}
		}
		return fmt.Sprintf("[resource %s]\n%s", tools.ModelText(uri, longestItem), contentOf(resource).text)
	}
	return fmt.Sprintf("[content of the type %q]", tools.ModelText(kind, 100))
}
