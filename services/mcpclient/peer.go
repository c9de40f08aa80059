package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// Bounds of one listing.
const (
	maxPages     = 200
	maxListBytes = 32 << 20
)

// Tools lists the tools. The definitions are the bytes as received; an entry
// that cannot be used is left out with a notice.
func (s *session) Tools(ctx context.Context) ([]services.ToolDef, error) {
	headed := map[string]*mcp.Tool{}
	list, err := s.listed(ctx, headed)
	if err != nil {
		// The tools from before stay in use, and their headers with them.
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headed = headed
	return list, nil
}

// listed reads the pages of the list, and puts the tools with parameters that
// travel in headers into headed.
func (s *session) listed(ctx context.Context, headed map[string]*mcp.Tool) ([]services.ToolDef, error) {
	var list []services.ToolDef
	size, cursor := 0, ""
	seen := map[string]bool{}
	for page := 1; ; page++ {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := s.request(ctx, "tools/list", params, nil)
		if err != nil {
			var r *rpcError
			if page == 1 && errors.As(err, &r) && r.code == mcp.METHOD_NOT_FOUND {
				return nil, nil
			}
			return nil, err
		}
		var result struct {
			Tools      json.RawMessage `json:"tools"`
			NextCursor *string         `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &result); err != nil {
			return nil, fmt.Errorf("reading the list of tools: %w", err)
		}
		size += len(raw)
		if len(result.Tools) > 0 && result.Tools[0] != '[' && string(result.Tools) != "null" {
			return nil, fmt.Errorf("reading the list of tools: it is no list: %s", services.Shown(string(result.Tools), 200))
		}
		tools, _ := scanElements(result.Tools, services.MaxTools+1)
		for i, t := range tools {
			def, err := services.NewToolDef(t)
			if err != nil {
				s.hooks.Notice(fmt.Sprintf("tool %d of page %d is left out: %v", i+1, page, err))
				continue
			}
			if s.post == nil && mcp.IsModernProtocol(s.version) && bytes.Contains(t, []byte("x-mcp-header")) {
				// It must not be offered: whoever stands between would see
				// other parameters than the server.
				tool := &mcp.Tool{Name: def.Name, RawInputSchema: def.InputSchema}
				if err := mcp.ValidateParamHeaderAnnotations(tool); err != nil {
					s.hooks.Notice(services.Shown(fmt.Sprintf("the tool %s is left out: %v", def.Name, err), 500))
					continue
				}
				headed[def.Name] = tool
			}
			list = append(list, def)
			if len(list) > services.MaxTools {
				return list, nil
			}
		}
		switch {
		case result.NextCursor == nil || *result.NextCursor == "":
			return list, nil
		case seen[*result.NextCursor]:
			s.hooks.Notice("its list of tools repeats a cursor: the list ends there")
			return list, nil
		case page >= maxPages || size > maxListBytes:
			s.hooks.Notice(fmt.Sprintf("its list of tools does not end: it was cut after %d pages and %d bytes", page, size))
			return list, nil
		}
		cursor = *result.NextCursor
		seen[cursor] = true
	}
}

// Call runs a tool.
func (s *session) Call(ctx context.Context, name string, args json.RawMessage, progress services.Progress) (services.CallResult, error) {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	if progress == nil {
		progress = func(float64, float64, string) {}
	}
	send := func() (json.RawMessage, error) {
		return s.rounds(ctx, "tools/call", map[string]any{"name": name, "arguments": args}, progress)
	}
	raw, err := send()
	// The server has refused the call, so that it may be sent once more.
	if pages := pagesWanted(err); len(pages) > 0 && s.opened(ctx, pages) {
		raw, err = send()
	}
	if err != nil {
		return services.CallResult{}, err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return services.CallResult{}, answerError{fmt.Errorf("the server's result is no object: %s", services.Shown(string(raw), 200))}
	}
	return services.CallResult{Raw: raw}, nil
}

// Ping asks for a sign of life. The modern era has no ping.
func (s *session) Ping(ctx context.Context) error {
	method := "ping"
	if s.bare {
		method = "tools/list"
	} else if mcp.IsModernProtocol(s.version) {
		method = methodDiscover
	}
	_, err := s.request(ctx, method, nil, nil)
	var r *rpcError
	if errors.As(err, &r) {
		// A refusal is a sign of life too.
		return nil
	}
	return err
}

// RootsChanged tells the server to ask for the roots again.
func (s *session) RootsChanged(ctx context.Context) error {
	if s.hooks.Roots == nil || mcp.IsModernProtocol(s.version) || s.ctx.Err() != nil {
		return nil
	}
	s.notify("notifications/roots/list_changed", nil)
	return nil
}

// listen subscribes to changes of the list of tools, which servers of the
// modern era tell only on request.
func (s *session) listen() {
	if !mcp.IsModernProtocol(s.version) || s.capabilities.Tools == nil || !s.capabilities.Tools.ListChanged {
		return
	}
	s.duties.Go(func() {
		for failures := 0; ; {
			began := time.Now()
			_, err := s.request(s.ctx, "subscriptions/listen", map[string]any{"notifications": map[string]any{"toolsListChanged": true}}, nil)
			var r *rpcError
			switch {
			case s.ctx.Err() != nil:
				return
			case errors.As(err, &r), err != nil && !restartableWire(err):
				s.hooks.Log("companion", "subscribing to changes of its tools failed: "+err.Error())
				return
			}
			// The answer ends the subscription.
			if failures++; time.Since(began) > livedLong {
				failures = 0
			}
			if failures > maxFruitless {
				s.hooks.Log("companion", "it ends each subscription to changes of its tools at once: changes are not seen")
				return
			}
			if !pause(s.ctx, (&position{}).wait(failures)) {
				return
			}
			s.hooks.ToolsChanged()
		}
	})
}
