package meta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

// Remote is what mcp_resources and mcp_prompts need of the servers that one
// session reaches.
type Remote interface {
	Servers() []string // the granted ones, in order
	// Reaches reports whether the policy admits an item. item is a resource's
	// URI or a prompt's name, the server's own.
	Reaches(server, item string) bool
	// Request sends a request of the protocol and returns the result as it came.
	// It wraps ErrUnsupported for what the server does not declare.
	Request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error)
}

// ErrUnsupported says that a server does not offer this part of the protocol.
var ErrUnsupported = errors.New("does not support")

var errNoJSON = errors.New("the server's answer is no JSON")

// separator stands between the name of a server and the server's own name of an
// item.
const separator = "__"

// Bounds of one list.
const (
	maxListed   = 1000 // items of one server
	longestItem = 2000 // a URI or name that can be given back, in bytes
	atOnce      = 8    // servers asked at one time
)

// split finds the server that an item is named for: the granted one with the
// longest name that fits. It returns a refusal where there is none.
func split(r Remote, item string) (server, own string, refusal string) {
	for _, s := range r.Servers() {
		if rest, ok := strings.CutPrefix(item, s+separator); ok && (server == "" || len(s) > len(server)) {
			server, own = s, rest
		}
	}
	if server != "" {
		return server, own, ""
	}
	before, _, ok := strings.Cut(item, separator)
	if !ok {
		return "", "", fmt.Sprintf("missing server prefix in `%s`", quoted(item))
	}
	return "", "", fmt.Sprintf("unknown MCP server `%s`", quoted(before))
}

// quoted is a name of somebody else inside backquotes.
func quoted(s string) string { return strings.ReplaceAll(tools.ModelText(s, 200), "`", "'") }

// granted reports whether a session reaches a server.
func granted(r Remote, server string) bool {
	for _, s := range r.Servers() {
		if s == server {
			return true
		}
	}
	return false
}

// kind is one kind of items that servers list.
type kind struct {
	plural string // "resources", also the key of the list and part of the method
	label  string // the member that tells an item: "uri", "name"
}

// page is a part of a list of one server.
type page struct {
	Items []json.RawMessage
	Next  string
	Left  int // items that were left out
}

// list asks a server for a page. Items come back named for the server, without
// those that policy does not admit or that could not be given back.
func (k kind) list(ctx context.Context, r Remote, server, cursor string) (page, error) {
	params := map[string]string{}
	if cursor != "" {
		params["cursor"] = cursor
	}
	return k.listAs(ctx, r, server, k.plural+"/list", k.plural, params)
}

func (k kind) listAs(ctx context.Context, r Remote, server, method, key string, params map[string]string) (page, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return page{}, err
	}
	if raw, err = r.Request(ctx, server, method, raw); err != nil {
		return page{}, err
	}
	if !json.Valid(raw) {
		return page{}, errNoJSON
	}
	var p page
	for name, value := range jsonparts.Members(raw) {
		switch name {
		case "nextCursor":
			p.Next = jsonparts.Text(value)
		case key:
			for item := range jsonparts.Elements(value) {
				shown := k.item(r, server, item)
				if shown == nil || len(p.Items) == maxListed {
					p.Left++
					continue
				}
				p.Items = append(p.Items, shown)
			}
		}
	}
	return p, nil
}

// item is one item as a model gets it, nil to leave it out.
func (k kind) item(r Remote, server string, raw json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	put := func(key string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonparts.AppendText(out, key), ':')
		out = append(out, value...)
	}
	own := ""
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case k.label:
			if own = jsonparts.Text(value); own == "" || len(own) > longestItem || strings.IndexFunc(own, tools.Hidden) >= 0 || !r.Reaches(server, own) {
				return nil
			}
			put(key, jsonparts.AppendText(nil, server+separator+own))
		case "name", "title", "description", "mimeType":
			if text := tools.ModelText(jsonparts.Text(value), 1000); text != "" {
				put(key, jsonparts.AppendText(nil, text))
			}
		case "size":
			if len(value) < 20 && bytes.Trim(value, "0123456789") == nil {
				put(key, value)
			}
		case "arguments":
			put(key, arguments(value))
		}
	}
	if own == "" {
		return nil
	}
	return append(out, '}')
}

// arguments are those that a prompt takes, without what does not show.
func arguments(raw json.RawMessage) []byte {
	type argument struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Required    bool   `json:"required,omitempty"`
	}
	list := []argument{}
	for one := range jsonparts.Elements(raw) {
		var a argument
		if json.Unmarshal(one, &a) == nil && len(list) < 100 {
			list = append(list, argument{tools.ModelText(a.Name, 200), tools.ModelText(a.Description, 1000), a.Required})
		}
	}
	return encode(list)
}

// encode writes JSON without the escapes that only HTML needs.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// listAll asks every server at the same time for its first page. Those that
// offer nothing of the kind, or fail, are left out.
func (k kind) listAll(ctx context.Context, r Remote) tools.Result {
	servers := r.Servers()
	pages := make([]page, len(servers))
	failed := make([]error, len(servers))
	var wg sync.WaitGroup
	var faults tools.Faults
	places := make(chan struct{}, atOnce)
	for i, server := range servers {
		wg.Go(func() {
			defer faults.Catch()
			places <- struct{}{}
			defer func() { <-places }()
			pages[i], failed[i] = k.list(ctx, r, server, "")
		})
	}
	wg.Wait()
	faults.Raise()
	all := []json.RawMessage{}
	var notes []string
	for i, p := range pages {
		all = append(all, p.Items...)
		if p.Next != "" {
			notes = append(notes, fmt.Sprintf("`%s` has more %s: list them with its name as server.", servers[i], k.plural))
		}
		if failed[i] != nil && !errors.Is(failed[i], ErrUnsupported) {
			notes = append(notes, fmt.Sprintf("`%s` did not answer: %s", servers[i], tools.ModelText(failed[i].Error(), 500)))
		}
	}
	out := tools.Text(string(encode(all)))
	if len(notes) > 0 {
		out.Content = append(out.Content, tools.Content{Text: strings.Join(notes, "\n")})
	}
	return out
}

// refused words why a request to a server failed.
func (k kind) refused(doing, server string, err error) tools.Result {
	if errors.Is(err, ErrUnsupported) {
		return failure("MCP server `%s` does not support %s", quoted(server), k.plural)
	}
	return failure("%s of `%s` failed: %s", doing, quoted(server), tools.ModelText(err.Error(), 2000))
}
