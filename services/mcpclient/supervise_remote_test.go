package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/services"
)

// remoteStub is a server over HTTP whose tool calls end as answer says; nil =
// they work.
type remoteStub struct {
	answer atomic.Pointer[http.HandlerFunc]
	calls  atomic.Int64
}

func (s *remoteStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q peerRequest
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	result := `{}`
	switch q.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"2"}}`
	case "tools/list":
		result = `{"tools":[{"name":"do","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		s.calls.Add(1)
		if answer := s.answer.Load(); answer != nil {
			(*answer)(w, r)
			return
		}
		result = `{"content":[]}`
	case "ping":
	default:
		if len(q.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, q.ID)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
}

func remoteSpec(url string) services.Spec {
	return services.Spec{Name: "r", Origin: services.OriginServer, Transport: services.TransportHTTP, URL: url,
		Headers: map[string]string{"Authorization": "Bearer planted-token"}, HandshakeTimeout: 5 * time.Second, Probe: -1}
}

// A server that fails is left alone after the third time, and the connection
// that lives on does not hide it.
func TestBreakerOfARemoteServer(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"500":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a web page": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html><p>hello") },
		"hangs up": func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				c.Close()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub := &remoteStub{}
			server := httptest.NewServer(stub)
			defer server.Close()
			v := serve(t, services.Config{}, remoteSpec(server.URL+"/mcp?key=planted-key"))
			call := func() error {
				_, err := v.Call(t.Context(), services.ToolCall{Server: "r", Tool: "do"})
				return err
			}
			if err := call(); err != nil { // it starts by being called
				t.Fatal(err)
			}
			stub.answer.Store(&fail)
			for range 3 {
				if err := call(); err == nil || errors.Is(err, services.ErrPaused) || strings.Contains(err.Error(), "planted") {
					t.Errorf("call: %v", err)
				}
			}
			sent := stub.calls.Load()
			if err := call(); !errors.Is(err, services.ErrPaused) || stub.calls.Load() != sent {
				t.Errorf("the fourth: %v", err)
			}
			st, _ := v.Status("r")
			if st.Breaker.State != services.BreakerOpen || st.URL != server.URL+"/mcp" || len(st.Command) != 0 {
				t.Errorf("status = %+v", st)
			}
			stub.answer.Store(nil)
			if err := v.Retry("r"); err != nil {
				t.Fatal(err)
			}
			if err := call(); err != nil {
				t.Errorf("after Retry: %v", err)
			}
		})
	}
}

func TestTestOfRemoteDefinitions(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "http://" + closed.Addr().String() + "/"
	closed.Close()
	v := serve(t, services.Config{})
	for range 200 { // until it serves
		if r := v.Test(t.Context(), services.Spec{Invalid: &services.ManifestError{Message: "x"}}); strings.Contains(r.Steps[0].Detail, "x") {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	plain := func(code int, kind, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	good := httptest.NewServer(&remoteStub{})
	defer good.Close()
	secure := httptest.NewTLSServer(&remoteStub{})
	defer secure.Close()
	for _, tt := range []struct{ name, url, want string }{
		{"works", good.URL, "connect:true handshake:true tools:true"},
		{"nobody there", nowhere, "connect:false"},
		{"no such certificate", secure.URL, "connect:false"},
		{"no such name", "http://nonesuch.invalid/", "connect:false"},
		{"a page", plain(200, "text/html", "<!doctype html>"), "connect:true handshake:false"},
		{"asks for a login", plain(401, "text/plain", "who are you, planted-token?"), "connect:true handshake:false"},
		{"no protocol", strings.Replace(good.URL, "http:", "gopher:", 1), "connect:false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := v.Test(t.Context(), remoteSpec(tt.url))
			var got []string
			for _, s := range r.Steps {
				got = append(got, fmt.Sprintf("%s:%t", s.Name, s.OK))
				if s.Detail == "" || strings.Contains(s.Detail, "planted") {
					t.Errorf("%s: %q", s.Name, s.Detail)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q, want %s: %+v", got, tt.want, r.Steps)
			}
			if r.OK && (r.ServerName != "stub" || len(r.Tools) != 1 || r.Tools[0] != "do") {
				t.Errorf("report %+v", r)
			}
		})
	}
}
