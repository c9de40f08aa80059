package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
	"zeroclaw/tools/results"
)

// Resources is the tool mcp_resources: it lists and reads what servers offer
// besides tools. It names resources <server>__<uri>, in lists as in reads.
type Resources struct {
	Remote Remote
	Frames results.Framer
}

var resources = kind{plural: "resources", label: "uri"}

var resourcesSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
"action":{"type":"string","description":"Required: list or read"},
"server":{"type":"string","description":"list: only this server's; with it, templates and further pages"},
"cursor":{"type":"string","description":"list: next_cursor of the page before, with server"},
"uri":{"type":"string","description":"read: the uri as listed, SERVER__URI"}}}`)

// Spec implements tools.Tool.
func (Resources) Spec() tools.Spec {
	return tools.Spec{
		Name: "mcp_resources", OwnName: "mcp_resources", Origin: permissions.OriginLocal, Title: "Resources of MCP servers",
		Description: "Lists and reads the resources of MCP servers: files, records and other data. Read takes a uri exactly as list gave it.",
		InputSchema: resourcesSchema,
	}
}

// Run implements tools.Tool.
func (t Resources) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	var in struct {
		Action *string `json:"action"`
		Server string  `json:"server"`
		Cursor string  `json:"cursor"`
		URI    string  `json:"uri"`
	}
	if json.Unmarshal(args, &in) != nil {
		return failure("arguments must be an object"), nil
	}
	switch {
	case in.Action == nil:
		return failure("missing required `action` (list|read)"), nil
	case *in.Action == "list":
		return listing(ctx, resources, t.Remote, in.Server, in.Cursor), nil
	case *in.Action == "read" && asItCame(ctx):
		return passed(ctx, t.Remote, "resources/read", in.URI, func(own string) any { return map[string]string{"uri": own} })
	case *in.Action == "read":
		return t.read(ctx, in.URI), nil
	}
	return failure("unknown action `%s` (expected list|read)", quoted(*in.Action)), nil
}

// listing answers action list of both tools.
func listing(ctx context.Context, k kind, r Remote, server, cursor string) tools.Result {
	switch {
	case server == "" && cursor != "":
		return failure("`cursor` requires a `server`: a page belongs to one server")
	case server == "":
		return k.listAll(ctx, r)
	case !granted(r, server):
		return failure("unknown MCP server `%s`", quoted(server))
	}
	p, err := k.list(ctx, r, server, cursor)
	if err != nil {
		return k.refused("listing "+k.plural, server, err)
	}
	if p.Items == nil {
		p.Items = []json.RawMessage{}
	}
	out := map[string]any{k.plural: p.Items, "next_cursor": nil}
	if p.Next != "" {
		out["next_cursor"] = p.Next
	}
	if k == resources && cursor == "" {
		// Not every server with resources knows templates: that is no failure.
		templates := kind{plural: k.plural, label: "uriTemplate"}
		if p, err := templates.listAs(ctx, r, server, "resources/templates/list", "resourceTemplates", map[string]string{}); err == nil && len(p.Items) > 0 {
			out["templates"] = p.Items
		}
	}
	return tools.Text(string(encode(out)))
}

func (t Resources) read(ctx context.Context, uri string) tools.Result {
	if strings.TrimSpace(uri) == "" {
		return failure("`read` requires a non-empty `uri`")
	}
	server, own, refusal := split(t.Remote, uri)
	if refusal != "" {
		return failure("%s", refusal)
	}
	if own == "" {
		return failure("`read` requires a non-empty `uri`")
	}
	text, files, err := t.Read(ctx, server, own)
	if err != nil {
		return resources.refused("reading a resource", server, err)
	}
	return tools.Result{Content: append([]tools.Content{{Text: text}}, files...)}
}

// errNotReached says that policy does not admit an item, which is then as one
// that does not exist.
var errNotReached = errors.New("there is no such item")

// Read reads a resource by the server's own URI and frames its text. Binary
// parts come along as content items that results.Finisher stores as it does
// those of tools; what is too big for that is only described. A session pins
// resources with it. The error wraps ErrUnsupported where that is so.
func (t Resources) Read(ctx context.Context, server, uri string) (framed string, files []tools.Content, err error) {
	if !granted(t.Remote, server) || !t.Remote.Reaches(server, uri) {
		return "", nil, errNotReached
	}
	params, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return "", nil, err
	}
	raw, err := t.Remote.Request(ctx, server, "resources/read", params)
	if err != nil {
		return "", nil, err
	}
	if !json.Valid(raw) {
		return "", nil, errNoJSON
	}
	var parts []string
	mime := ""
	for key, value := range jsonparts.Members(raw) {
		if key != "contents" {
			continue
		}
		for item := range jsonparts.Elements(value) {
			part := contentOf(item)
			if len(parts) == 0 {
				mime = part.mime
			}
			parts = append(parts, part.text)
			if part.file != nil {
				files = append(files, tools.Content{Raw: part.file})
			}
		}
	}
	if len(parts) == 0 {
		parts = []string{"(empty)"}
	}
	return t.Frames.Resource(server, server+separator+uri, mime, strings.Join(parts, "\n")), files, nil
}

// content is one part of a resource.
type content struct {
	mime string
	text string          // what stands in the frame
	file json.RawMessage // a binary part that is stored, as a content item
}

func contentOf(raw json.RawMessage) content {
	var c content
	blob := json.RawMessage(nil)
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "mimeType":
			c.mime = jsonparts.Text(value)
		case "text":
			c.text = jsonparts.Text(value)
		case "blob":
			blob = value
		}
	}
	if blob == nil {
		return c
	}
	size := results.Base64Size(blob)
	c.text = fmt.Sprintf("[binary blob, %d bytes, mime=%s]", size, tools.ModelText(c.mime, 100))
	if size <= results.MaxAttachment {
		c.file = append(append(json.RawMessage(`{"type":"resource","resource":`), raw...), '}')
	}
	return c
}
