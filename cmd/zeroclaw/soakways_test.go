//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// way is how a caller reaches the companion.
type way interface {
	open(ctx context.Context) error
	// ask sends a request. When ctx ends the client vanishes.
	ask(ctx context.Context, method string, params map[string]any) (rpcAnswer, error)
	close() error
}

// rpcAnswer is a response.
type rpcAnswer struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

var soakIntroduction = map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": soakClient}

var soakClient = map[string]any{"name": "soak", "version": "1"}

// introduce asks for what has to be answered first.
func introduce(ctx context.Context, w way, method string, params map[string]any) error {
	a, err := w.ask(ctx, method, params)
	if err == nil && a.Error == nil {
		return nil
	}
	return wrong(method, err, a)
}

// httpWay is a client of Streamable HTTP, with a session or without.
type httpWay struct {
	http       *http.Client
	url, token string
	modern     bool // 2026-07-28
	listens    bool // to what belongs to no request

	session string
	last    int
	hangUp  context.CancelFunc // of the stream
	hung    sync.WaitGroup
}

func (w *httpWay) open(ctx context.Context) error {
	if !w.modern {
		if err := introduce(ctx, w, "initialize", soakIntroduction); err != nil {
			return err
		}
		if _, err := w.post(ctx, "notifications/initialized", 0, map[string]any{}); err != nil {
			return err
		}
	} else if err := introduce(ctx, w, "server/discover", map[string]any{}); err != nil {
		return err
	}
	if !w.listens {
		return nil
	}
	stream, hangUp := context.WithCancel(context.Background())
	w.hangUp = hangUp
	var r *http.Request
	var err error
	if w.modern {
		r, err = w.request(stream, "subscriptions/listen", 1, map[string]any{"notifications": map[string]any{"toolsListChanged": true}})
	} else {
		r, err = http.NewRequestWithContext(stream, http.MethodGet, w.url, nil)
	}
	if err != nil {
		return err
	}
	w.mark(r, "subscriptions/listen", "")
	a, err := w.http.Do(r)
	if err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		a.Body.Close()
		return fmt.Errorf("the stream answers %d", a.StatusCode)
	}
	w.hung.Go(func() {
		defer a.Body.Close()
		_, _ = io.Copy(io.Discard, a.Body)
	})
	return nil
}

// mark adds the headers that every request has.
func (w *httpWay) mark(r *http.Request, method, name string) {
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.modern {
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	} else if w.session != "" {
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
		r.Header.Set("Mcp-Session-Id", w.session)
	}
}

func (w *httpWay) request(ctx context.Context, method string, id int, params map[string]any) (*http.Request, error) {
	if w.modern {
		params = maps.Clone(params)
		meta := map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}, "io.modelcontextprotocol/clientInfo": soakClient}
		if given, ok := params["_meta"].(map[string]any); ok {
			maps.Copy(meta, given)
		}
		params["_meta"] = meta
	}
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id > 0 {
		m["id"] = id
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	name, _ := params["name"].(string)
	w.mark(r, method, name)
	return r, nil
}

func (w *httpWay) ask(ctx context.Context, method string, params map[string]any) (rpcAnswer, error) {
	w.last++
	return w.post(ctx, method, w.last, params)
}

// post sends a message; without an id there is no answer.
func (w *httpWay) post(ctx context.Context, method string, id int, params map[string]any) (out rpcAnswer, err error) {
	r, err := w.request(ctx, method, id, params)
	if err != nil {
		return out, err
	}
	a, err := w.http.Do(r)
	if err != nil {
		return out, err
	}
	defer a.Body.Close()
	if method == "initialize" {
		w.session = a.Header.Get("Mcp-Session-Id")
	}
	if id == 0 {
		if a.StatusCode != http.StatusAccepted {
			return out, fmt.Errorf("%s is answered with %d", method, a.StatusCode)
		}
		return out, nil
	}
	if kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); kind != "text/event-stream" {
		body, err := io.ReadAll(a.Body)
		if err != nil {
			return out, err
		}
		if err := json.Unmarshal(body, &out); err != nil || len(out.ID) == 0 {
			return out, fmt.Errorf("%s is answered with %d %.300s", method, a.StatusCode, body)
		}
		return out, nil
	}
	for lines := bufio.NewReader(a.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return out, fmt.Errorf("the stream of %s ends without an answer: %w", method, err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &out); err != nil {
			return out, err
		}
		if string(out.ID) == strconv.Itoa(id) && out.Method == "" {
			return out, nil
		}
		out = rpcAnswer{}
	}
}

func (w *httpWay) close() error {
	if w.hangUp != nil {
		w.hangUp()
		w.hangUp = nil
		w.hung.Wait()
	}
	if w.modern || w.session == "" {
		return nil
	}
	r, err := http.NewRequest(http.MethodDelete, w.url, nil)
	if err != nil {
		return err
	}
	w.mark(r, "", "")
	w.session = ""
	a, err := w.http.Do(r)
	if err != nil {
		return err
	}
	a.Body.Close()
	if a.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the end of a session is answered with %d", a.StatusCode)
	}
	return nil
}
