package guard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	pageToken  = "pageTOKENpageTOKENpageTOKENpageTOKENpageTOKE"
	uiToken    = "uiTOKENuiTOKENuiTOKENuiTOKENuiTOKENuiTOKENui"
	namedToken = "namedTOKENnamedTOKENnamedTOKENnamedTOKENname"
)

// rig is a real server with a small route table behind the guard.
type rig struct {
	port      int
	calls     atomic.Int64 // how often a handler with effects ran
	confirmed atomic.Bool
	log       bytes.Buffer
	last      atomic.Value // the Client of the last request
	srv       *http.Server
}

type callBody struct {
	Tool      string            `json:"tool"`
	Arguments jsonRaw           `json:"arguments"`
	CallID    string            `json:"call_id"`
	Nested    map[string]string `json:"nested"`
}

func (g *rig) routes() []Route {
	effect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.last.Store(From(r))
		var b callBody
		if err := Decode(r, &b); err != nil {
			WriteError(w, err)
			return
		}
		g.calls.Add(1)
		WriteJSON(w, 200, map[string]string{"tool": b.Tool})
	})
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.last.Store(From(r))
		WriteJSON(w, 200, map[string]any{"name": "zeroclaw", "id": r.PathValue("id")})
	})
	swallow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			WriteError(w, err)
			return
		}
		WriteJSON(w, 200, n)
	})
	return []Route{
		{"GET", "/api/status", Token, NoBody, 0, ok, nil},
		{"GET", "/api/events", Token, NoBody, 0, ok, nil},
		{"POST", "/api/pair", None, JSON, 0, ok, nil},
		{"POST", "/api/sessions/{id}/calls", Token, JSON, 0, effect, nil},
		{"GET", "/api/sessions/{id}/calls", Token, NoBody, 0, ok, nil},
		{"POST", "/api/approvals/{id}", Token, JSON, 0, effect, nil},
		{"DELETE", "/api/approvals/{id}", Token, NoBody, 0, ok, nil},
		{"POST", "/api/files", Token, Upload, 0, swallow, nil},
		{AnyMethod, "/llm/{profile}/{rest...}", Token, Stream, 0, swallow, nil},
		{AnyMethod, "/mcp", Host, Stream, 0, ok, nil},
		{"GET", "/oauth/callback", State, NoBody, 0, ok, nil},
		{"GET", "/api/panic", Token, NoBody, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			panic("oops " + r.Header.Get("Authorization") + " sesame")
		}), nil},
		{"GET", "/{path...}", None, NoBody, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p := r.PathValue("path"); p != "" && p != "app.js" {
				WriteError(w, &Error{Status: 404, Code: "not_found", Message: "no such file"})
				return
			}
			fmt.Fprint(w, "<title>page</title>")
		}), nil},
	}
}

func start(t testing.TB, ui string, tweak func(*http.Server)) *rig {
	t.Helper()
	g := &rig{}
	g.confirmed.Store(true)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.port = ln.Addr().(*net.TCPAddr).Port
	var keys Keyring
	keys.Add(pageToken, TokenInfo{ID: "p", Kind: Page})
	if ui != "" {
		keys.Add(uiToken, TokenInfo{ID: "u", Kind: Page, Origin: ui})
	}
	keys.Add(namedToken, TokenInfo{ID: "n", Kind: Named, Agent: "coder"})
	log := slog.New(slog.NewTextHandler(&g.log, nil))
	redact := func(s string) string { return strings.ReplaceAll(s, "sesame", "***") }
	h := New(Config{Port: g.port, UIOrigin: ui, UIConfirmed: g.confirmed.Load, Token: keys.Find, Log: log, Redact: redact,
		StaticHeaders: func(h http.Header, path string) { h.Set("Cache-Control", "no-cache") }}, g.routes())
	g.srv = Server(h, log, redact)
	if tweak != nil {
		tweak(g.srv)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.srv.Serve(Limit(ln, g.srv, 0))
	}()
	t.Cleanup(func() { g.srv.Close(); <-done })
	return g
}

// raw sends text as it is and returns the answer and its body.
func (g *rig) raw(t testing.TB, text string, method string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(g.port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	// The server may answer and close while a large request is still being
	// written; the answer counts.
	go io.WriteString(c, text)
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer to %.80q: %v", text, err)
	}
	body, _ := io.ReadAll(resp.Body)
	return resp, string(body)
}

func (g *rig) ask(t testing.TB, method, target string, headers []string, body string) (*http.Response, string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, target)
	host := false
	for _, h := range headers {
		host = host || strings.HasPrefix(h, "Host:")
		b.WriteString(h + "\r\n")
	}
	if !host {
		fmt.Fprintf(&b, "Host: 127.0.0.1:%d\r\n", g.port)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("Connection: close\r\n\r\n" + body)
	return g.raw(t, b.String(), method)
}

const (
	auth = "Authorization: Bearer " + pageToken
	js   = "Content-Type: application/json"
)

func TestPipeline(t *testing.T) {
	const ui = "https://ui.example"
	g := start(t, ui, nil)
	p := strconv.Itoa(g.port)
	own := "Origin: http://127.0.0.1:" + p
	call := "/api/sessions/s1/calls"
	tests := []struct {
		name, method, target string
		headers              []string
		body                 string
		want                 int
		code                 string
	}{
		{"right", "GET", "/api/status", []string{auth}, "", 200, ""},
		{"head", "HEAD", "/api/status", []string{auth}, "", 200, ""},
		{"own origin", "GET", "/api/status", []string{auth, own}, "", 200, ""},
		{"localhost", "GET", "/api/status", []string{auth, "Host: localhost:" + p}, "", 200, ""},
		{"localhost with its own origin", "GET", "/api/status", []string{auth, "Host: localhost:" + p, "Origin: http://localhost:" + p}, "", 200, ""},
		{"a page of the other name", "GET", "/api/status", []string{auth, "Origin: http://localhost:" + p}, "", 403, "wrong_origin"},
		{"upper-case host", "GET", "/api/status", []string{auth, "Host: LOCALHOST:" + p}, "", 421, "wrong_host"},
		{"trailing dot", "GET", "/api/status", []string{auth, "Host: localhost.:" + p}, "", 421, "wrong_host"},
		{"no port", "GET", "/api/status", []string{auth, "Host: 127.0.0.1"}, "", 421, "wrong_host"},
		{"ipv6 twin", "GET", "/api/status", []string{auth, "Host: [::1]:" + p}, "", 421, "wrong_host"},
		{"wrong host on static", "GET", "/", []string{"Host: evil.example"}, "", 421, "wrong_host"},
		{"https origin of own host", "GET", "/api/status", []string{auth, "Origin: https://127.0.0.1:" + p}, "", 403, "wrong_origin"},
		{"two origins", "GET", "/api/status", []string{auth, own, "Origin: " + ui}, "", 403, "wrong_origin"},
		{"empty origin", "GET", "/api/status", []string{auth, "Origin: "}, "", 403, "wrong_origin"},
		{"origin with a path", "GET", "/api/status", []string{auth, "Origin: " + ui + "/"}, "", 403, "wrong_origin"},
		{"cross-site fetch", "GET", "/api/status", []string{auth, "Sec-Fetch-Site: cross-site"}, "", 403, "cross_site"},
		{"cross-site script", "GET", "/app.js", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, "", 403, "cross_site"},
		{"cross-site link", "GET", "/", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, "", 200, ""},
		{"cross-site link deeper", "GET", "/app.js", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, "", 403, "cross_site"},
		{"cross-site form post", "POST", "/", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, "", 403, "cross_site"},
		{"oauth callback", "GET", "/oauth/callback?state=1", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, "", 200, ""},
		{"absolute form", "GET", "http://127.0.0.1:" + p + "/api/status", []string{auth}, "", 400, "bad_path"},
		{"star", "OPTIONS", "*", []string{auth}, "", 400, "bad_path"},
		{"authority form", "CONNECT", "127.0.0.1:" + p, []string{auth}, "", 400, "bad_path"},
		{"dot segments", "GET", "/api/../api/status", []string{auth}, "", 400, "bad_path"},
		{"encoded dot segments", "GET", "/%2e%2e/api/status", []string{auth}, "", 400, "bad_path"},
		{"empty segments", "GET", "//api/status", []string{auth}, "", 400, "bad_path"},
		{"nul", "GET", "/api/status%00", []string{auth}, "", 400, "bad_path"},
		{"backslash", "GET", "/api%5cstatus", []string{auth}, "", 400, "bad_path"},
		{"unknown path", "GET", "/api/nothing", []string{auth}, "", 404, "not_found"},
		{"unknown path without token", "GET", "/api/nothing", nil, "", 401, "unauthorized"},
		{"wrong method", "PUT", call, []string{auth, js}, "{}", 405, "wrong_method"},
		{"lower-case method", "get", "/api/status", []string{auth}, "", 405, "wrong_method"},
		{"method before token", "PUT", call, nil, "{}", 405, "wrong_method"},
		{"own origin preflight", "OPTIONS", call, []string{own, "Access-Control-Request-Method: POST"}, "", 405, "wrong_method"},
		{"basic", "GET", "/api/status", []string{"Authorization: Basic " + pageToken}, "", 401, "unauthorized"},
		{"bearer twice", "GET", "/api/status", []string{auth, auth}, "", 401, "unauthorized"},
		{"two in one", "GET", "/api/status", []string{auth + ", Bearer x"}, "", 401, "unauthorized"},
		{"empty bearer", "GET", "/api/status", []string{"Authorization: Bearer "}, "", 401, "unauthorized"},
		{"token prefix", "GET", "/api/status", []string{auth[:len(auth)-1]}, "", 401, "unauthorized"},
		{"x-api-key is no token", "GET", "/api/status", []string{"X-Api-Key: " + pageToken}, "", 401, "unauthorized"},
		{"named token on the api", "GET", "/api/status", []string{"Authorization: Bearer " + namedToken}, "", 403, "token_scope"},
		{"named token on mcp", "POST", "/mcp", []string{"Authorization: Bearer " + namedToken, js}, "{}", 200, ""},
		{"page token on mcp", "POST", "/mcp", []string{auth, js}, "{}", 200, ""},
		{"ui token from the ui", "GET", "/api/status", []string{"Authorization: Bearer " + uiToken, "Origin: " + ui, "Sec-Fetch-Site: cross-site"}, "", 200, ""},
		{"ui token from nowhere", "GET", "/api/status", []string{"Authorization: Bearer " + uiToken}, "", 403, "token_scope"},
		{"loopback token from the ui", "GET", "/api/status", []string{auth, "Origin: " + ui}, "", 403, "token_scope"},
		{"body on a GET", "GET", "/api/status", []string{auth}, "{}", 400, "unexpected_body"},
		{"body on a DELETE", "DELETE", "/api/approvals/1", []string{auth}, "{}", 400, "unexpected_body"},
		{"chunked body on a GET", "GET", "/api/status", []string{auth, "Transfer-Encoding: chunked"}, "", 400, "unexpected_body"},
		{"no body", "POST", call, []string{auth, js}, "", 400, "bad_json"},
		{"no content type", "POST", call, []string{auth}, "{}", 415, "wrong_content_type"},
		{"form", "POST", call, []string{auth, "Content-Type: application/x-www-form-urlencoded"}, "a=1", 415, "wrong_content_type"},
		{"two content types", "POST", call, []string{auth, js, js}, "{}", 415, "wrong_content_type"},
		{"smuggled content type", "POST", call, []string{auth, "Content-Type: text/plain; application/json"}, "{}", 415, "wrong_content_type"},
		{"charset latin1", "POST", call, []string{auth, js + "; charset=latin1"}, "{}", 415, "wrong_content_type"},
		{"charset utf-8", "POST", call, []string{auth, js + "; charset=UTF-8"}, `{"tool":"x"}`, 200, ""},
		{"gzip", "POST", call, []string{auth, js, "Content-Encoding: gzip"}, "x", 415, "wrong_encoding"},
		{"identity is an encoding too", "POST", "/api/files", []string{auth, "Content-Encoding: br"}, "x", 415, "wrong_encoding"},
		{"401 before 415", "POST", call, []string{"Content-Type: text/plain"}, "{", 401, "unauthorized"},
		{"401 before 400", "POST", call, []string{js}, "{", 401, "unauthorized"},
		{"broken json", "POST", call, []string{auth, js}, `{"tool":`, 400, "bad_json"},
		{"unknown field", "POST", call, []string{auth, js}, `{"tool":"x","extra":1}`, 400, "bad_json"},
		{"case variant", "POST", call, []string{auth, js}, `{"tool":"a","Tool":"b"}`, 400, "bad_json"},
		{"pair needs no token", "POST", "/api/pair", []string{js}, "{}", 200, ""},
		{"llm GET", "GET", "/llm/work/models", []string{auth}, "", 200, ""},
		{"upload", "POST", "/api/files?name=a", []string{auth, "Content-Type: image/png"}, "\x89PNG", 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := g.ask(t, tt.method, tt.target, tt.headers, tt.body)
			if resp.StatusCode != tt.want || tt.code != "" && tt.method != "HEAD" && !strings.Contains(body, `"code":"`+tt.code+`"`) {
				t.Errorf("%s %s = %d %s, want %d %s", tt.method, tt.target, resp.StatusCode, body, tt.want, tt.code)
			}
			checkHeaders(t, resp, ui)
			switch resp.StatusCode {
			case 401:
				if got := resp.Header.Get("WWW-Authenticate"); got != "Bearer" {
					t.Errorf("WWW-Authenticate = %q, want Bearer", got)
				}
			case 405:
				if resp.Header.Get("Allow") == "" {
					t.Error("405 without Allow")
				}
			}
		})
	}
}

// checkHeaders checks what every answer of the guard carries.
func checkHeaders(t *testing.T, resp *http.Response, ui string) {
	t.Helper()
	for k, want := range map[string]string{"Content-Security-Policy": ContentSecurityPolicy,
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		if got := resp.Header.Get(k); got != want {
			t.Errorf("%s = %q, want %q", k, got, want)
		}
	}
	if resp.Header.Get("Cache-Control") == "" {
		t.Error("no Cache-Control")
	}
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" && (got != ui || ui == "") {
		t.Errorf("Access-Control-Allow-Origin = %q", got)
	}
	if resp.Header.Get("Access-Control-Allow-Credentials") != "" || resp.Header.Get("Access-Control-Allow-Private-Network") != "" {
		t.Error("a CORS header that is never to be sent")
	}
}

func TestPanicIsScrubbed(t *testing.T) {
	g := start(t, "", nil)
	resp, body := g.ask(t, "GET", "/api/panic", []string{auth}, "")
	if resp.StatusCode != 500 || !strings.Contains(body, `"internal"`) {
		t.Errorf("panic = %d %s", resp.StatusCode, body)
	}
	g.srv.Close()
	for _, secret := range []string{pageToken, "sesame"} {
		if strings.Contains(body+g.log.String(), secret) {
			t.Errorf("%q reached the answer or the log", secret)
		}
	}
	if !strings.Contains(g.log.String(), "panicked") {
		t.Errorf("nothing logged: %s", g.log.String())
	}
}
