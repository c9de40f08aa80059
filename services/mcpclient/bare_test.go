package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"zeroclaw/services"
)

func TestBareJSONRPC(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m stubMessage
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		seen = append(seen, fmt.Sprintf("%s %s %s", r.Method, m.Method, m.Params))
		mu.Unlock()
		if r.Header.Get("Mcp-Protocol-Version") != "" || r.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("headers %v", r.Header)
		}
		w.Header().Set("Mcp-Session-Id", "ignored")
		switch m.Method {
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo"}]}}`, m.ID)
		case "tools/call":
			w.Header().Set("Content-Type", "application/json-rpc")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"bare"}]}}`, m.ID)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		}
	}))
	defer s.Close()
	p, _ := reach(t, services.TransportJSONRPC, s.URL, nil)
	tools, err := p.Tools(t.Context())
	if err != nil || len(tools) != 1 {
		t.Errorf("Tools = %v, %v", tools, err)
	}
	if got, err := call(t, p, "echo", `{"x":1}`); err != nil || got != "bare" {
		t.Errorf("echo = %q, %v", got, err)
	}
	if err := p.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := p.(services.RequestPeer).Request(t.Context(), "resources/list", nil); !errors.Is(err, services.ErrUnsupported) {
		t.Errorf("resources/list: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := `POST tools/list {}|POST tools/call {"arguments":{"x":1},"name":"echo"}|POST tools/list `
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("it was sent %q, want %q", got, want)
	}
}
