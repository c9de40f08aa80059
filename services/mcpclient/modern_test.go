package mcpclient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/services"
)

// modernStub answers as revision 2026-07-28 does. The first question is always
// refused with the revisions that it knows.
func modernStub(t *testing.T, tools string, listen func(http.ResponseWriter, *http.Request)) *stub {
	t.Helper()
	var asked atomic.Bool
	s := &stub{stateless: true}
	s.before = func(w http.ResponseWriter, r *http.Request, m stubMessage) bool {
		result := `{"content":[],"resultType":"complete"}`
		switch m.Method {
		case "server/discover":
			if !asked.Swap(true) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`, m.ID)
				return true
			}
			result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{}}}`
		case "tools/list":
			result = `{"tools":` + tools + `}`
		case "subscriptions/listen":
			listen(w, r)
			return true
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "not-of-this-era")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		return true
	}
	return newStub(t, s)
}

func TestModernHeaders(t *testing.T) {
	t.Parallel()
	s := modernStub(t, `[{"name":"grüße","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"plain":{"type":"string"}}}},
		{"name":"spaced","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}},
		{"name":"broken","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a\r\nHost: evil"}}}},
		{"name":"object","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},
		{"name":"twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}}]`,
		func(http.ResponseWriter, *http.Request) {})
	p, r := reach(t, services.TransportHTTP, s.URL, nil)
	if r.info.Protocol != "2026-07-28" {
		t.Fatalf("protocol %s", r.info.Protocol)
	}
	tools, err := p.Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Name != "grüße" {
		t.Errorf("Tools = %v, %v", tools, err)
	}
	if len(r.notices) != 4 {
		t.Errorf("notices: %q", r.notices)
	}
	if _, err := p.Call(t.Context(), "grüße", json.RawMessage(`{"region":"a\r\nHost: evil","n":7,"plain":"x"}`), nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ended) > 0 {
		t.Errorf("sessions %q were ended, this era has none", s.ended)
	}
	for _, m := range s.seen {
		if m.header.Get("Mcp-Protocol-Version") != "2026-07-28" || m.header.Get("Mcp-Method") != m.Method || m.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s has the headers %v", m.Method, m.header)
		}
		logs := strings.Contains(string(m.Params), `"io.modelcontextprotocol/logLevel":"info"`)
		if m.Method == "tools/call" && !logs {
			t.Errorf("its log is not asked for: %s", m.Params)
		}
	}
	i := slices.IndexFunc(s.seen, func(m stubMessage) bool { return m.Method == "tools/call" })
	h := s.seen[i].header
	if h.Get("Mcp-Param-N") != "7" || h.Get("Mcp-Param-Region") != "=?base64?YQ0KSG9zdDogZXZpbA==?=" || h.Get("Mcp-Param-Plain") != "" || !strings.HasPrefix(h.Get("Mcp-Name"), "=?base64?") {
		t.Errorf("tools/call has the headers %v", h)
	}
}

// A subscription that breaks is made again, and the tools are read anew.
func TestSubscriptionMadeAgain(t *testing.T) {
	t.Parallel()
	var times atomic.Int32
	s := modernStub(t, `[]`, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush(w)
		if times.Add(1) == 1 {
			return
		}
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		flush(w)
		<-r.Context().Done()
	})
	_, r := reach(t, services.TransportHTTP, s.URL, nil)
	for n := range 2 {
		select {
		case <-r.changed:
		case <-time.After(slowdown * 5 * time.Second):
			t.Fatalf("%d changes were told", n)
		}
	}
	if times.Load() != 2 {
		t.Errorf("%d subscriptions", times.Load())
	}
}

// A list that cannot be read again leaves the tools in use with their headers.
func TestHeadersOutliveAFailedListing(t *testing.T) {
	t.Parallel()
	s := modernStub(t, `[{"name":"do","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]`,
		func(http.ResponseWriter, *http.Request) {})
	var fails atomic.Bool
	before := s.before
	s.before = func(w http.ResponseWriter, r *http.Request, m stubMessage) bool {
		if m.Method == "tools/list" && fails.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return before(w, r, m)
	}
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	if _, err := p.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	fails.Store(true)
	if _, err := p.Tools(t.Context()); err == nil {
		t.Fatal("the list was read")
	}
	if _, err := call(t, p, "do", `{"region":"eu"}`); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.seen, func(m stubMessage) bool { return m.Method == "tools/call" })
	if got := s.seen[i].header.Get("Mcp-Param-Region"); got != "eu" {
		t.Errorf("the call has the headers %v", s.seen[i].header)
	}
}
