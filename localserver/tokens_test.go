package localserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"zeroclaw/localserver/guard"
)

// made is what POST /api/tokens answers.
type made struct {
	tokenView
	Token string `json:"token"`
}

func (r *rig) tokens() []tokenView {
	r.t.Helper()
	return do[struct{ Tokens []tokenView }](r, "GET", "/api/tokens", nil).Tokens
}

// host serves one route that takes named tokens behind the companion's own
// check of tokens. It answers with the agent; with ?wait it says "begun" and
// ends with its request.
func (r *rig) host() (ask func(token, query string) (status int, body string), begin func(token string) (ended <-chan error)) {
	r.t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Query().Has("wait") {
			fmt.Fprintln(w, "begun")
			w.(http.Flusher).Flush()
			<-q.Context().Done()
			return
		}
		fmt.Fprint(w, guard.From(q).Agent)
	})
	server := &http.Server{Handler: guard.New(guard.Config{Port: ln.Addr().(*net.TCPAddr).Port, Token: r.server.tokens.Find},
		[]guard.Route{{Method: "GET", Pattern: "/mcp", Auth: guard.Host, Body: guard.NoBody, Handler: handler}})}
	go server.Serve(ln)
	r.t.Cleanup(func() { server.Close() })
	open := func(token, query string) *http.Response {
		r.t.Helper()
		q, _ := http.NewRequestWithContext(r.t.Context(), "GET", "http://"+ln.Addr().String()+"/mcp"+query, nil)
		q.Header.Set("Authorization", "Bearer "+token)
		a, err := impatient.Do(q)
		if err != nil {
			r.t.Fatal(err)
		}
		return a
	}
	ask = func(token, query string) (int, string) {
		r.t.Helper()
		a := open(token, query)
		defer a.Body.Close()
		body, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(body)
	}
	begin = func(token string) <-chan error {
		r.t.Helper()
		a := open(token, "?wait")
		if a.StatusCode != http.StatusOK {
			r.t.Fatalf("beginning answers %d", a.StatusCode)
		}
		ended := make(chan error, 1)
		go func() {
			defer a.Body.Close()
			_, err := io.ReadAll(a.Body)
			ended <- err
		}()
		return ended
	}
	return ask, begin
}

// TestNamedToken follows a token from its making to its end.
func TestNamedToken(t *testing.T) {
	r := newRig(t)
	events := r.listen()
	if list := r.tokens(); len(list) != 0 {
		t.Fatalf("before: %+v", list)
	}
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	m := do[made](r, "POST", "/api/tokens", map[string]any{"name": "Editor ñ", "expires": expires.Format(time.RFC3339)})
	if m.Agent != "assistant" || !m.Expires.Equal(expires) || m.ID == "" || !strings.HasPrefix(m.Token, tokenPrefix) || len(m.Token) != len(tokenPrefix)+43 {
		t.Errorf("made %+v", m)
	}
	r.next(events, "tokens.changed")
	ask, begin := r.host()
	if status, agent := ask(m.Token, ""); status != http.StatusOK || agent != "assistant" {
		t.Errorf("its route answers %d %s", status, agent)
	}
	r.next(events, "tokens.changed") // the first use is told at once
	for _, target := range []string{"GET /api/status", "GET /api/tokens", "POST /api/approvals/x", "POST /api/tokens", "DELETE /api/tokens/" + m.ID, "GET /llm/x/y"} {
		method, path, _ := strings.Cut(target, " ")
		var body any
		if method == "POST" {
			body = map[string]any{"name": "mine", "decision": "once"}
		}
		if status, text := r.request(method, path, body, "Authorization: Bearer "+m.Token); status != http.StatusForbidden || !strings.Contains(text, "token_scope") {
			t.Errorf("%s = %d %s, want 403 token_scope", target, status, text)
		}
	}
	list := r.tokens()
	if len(list) != 1 || list[0].Name != "Editor ñ" || time.Since(list[0].LastUsed) > time.Minute {
		t.Errorf("listed %+v", list)
	}
	if _, text := r.request("GET", "/api/tokens", nil); strings.Contains(text, m.Token) || strings.Contains(text, "sha256") {
		t.Errorf("the list says too much: %s", text)
	}
	file := filepath.Join(r.home, ".zeroclaw", "state", "tokens.json")
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), m.Token) || strings.Contains(string(data), m.Token[len(tokenPrefix):]) {
		t.Errorf("the file has the token, or is missing: %v", err)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if strings.Contains(r.log.String(), m.Token) || strings.Contains(r.server.secrets.Redact("x "+m.Token), m.Token) {
		t.Error("the token reaches the log, or would")
	}
	if status, _ := r.request("POST", "/api/prove", map[string]string{"token_id": m.ID, "nonce": strings.Repeat("n", 32)}); status != http.StatusNotFound {
		t.Errorf("proving it answers %d", status)
	}

	ended := begin(m.Token)
	if status, text := r.request("DELETE", "/api/tokens/"+m.ID, nil); status != http.StatusNoContent {
		t.Fatalf("revoking answers %d %s", status, text)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("what runs in its name goes on")
	}
	if status, text := ask(m.Token, ""); status != http.StatusUnauthorized || !strings.Contains(text, "zeroclaw token new") {
		t.Errorf("revoked, it answers %d %s", status, text)
	}
	if status, text := r.request("DELETE", "/api/tokens/"+m.ID, nil); status != http.StatusNotFound || !strings.Contains(text, "unknown_token") {
		t.Errorf("revoking again answers %d %s", status, text)
	}
}

// TestNamedTokenLasts: a restart keeps tokens and their last use, and a token
// that was given back stays out.
func TestNamedTokenLasts(t *testing.T) {
	r := newRig(t)
	kept := do[made](r, "POST", "/api/tokens", map[string]any{"name": "kept"})
	gone := do[made](r, "POST", "/api/tokens", map[string]any{"name": "gone"})
	r.request("DELETE", "/api/tokens/"+gone.ID, nil)
	ask, _ := r.host()
	ask(kept.Token, "")
	before := r.tokens()
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	again := newRig(t, func(c *Config) {
		data, err := os.ReadFile(filepath.Join(r.home, ".zeroclaw", "state", "tokens.json"))
		if err == nil {
			err = os.MkdirAll(filepath.Join(c.State, "state"), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(c.State, "state", "tokens.json"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if now := again.tokens(); len(now) != 1 || now[0] != before[0] || now[0].LastUsed.IsZero() {
		t.Errorf("after the restart %+v, before %+v", now, before)
	}
	ask, _ = again.host()
	if status, agent := ask(kept.Token, ""); status != http.StatusOK || agent != "assistant" {
		t.Errorf("the kept one answers %d %s", status, agent)
	}
	if status, _ := ask(gone.Token, ""); status != http.StatusUnauthorized {
		t.Errorf("the revoked one answers %d", status)
	}
	if strings.Contains(again.server.secrets.Redact(kept.Token), kept.Token) {
		t.Error("a token of an earlier run is not redacted")
	}
}

func TestTokenRefusals(t *testing.T) {
	r := newRig(t)
	do[made](r, "POST", "/api/tokens", map[string]any{"name": "Taken", "agent": "assistant"})
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	tests := []struct {
		name  string
		body  any
		field string
	}{
		{"no name", map[string]any{}, "name"},
		{"empty name", map[string]any{"name": ""}, "name"},
		{"spaces", map[string]any{"name": " a"}, "name"},
		{"65 characters", map[string]any{"name": strings.Repeat("ñ", 65)}, "name"},
		{"a line end", map[string]any{"name": "a\nb"}, "name"},
		{"an escape", map[string]any{"name": "a\x1b[31mb"}, "name"},
		{"a bidi override", map[string]any{"name": "a\u202eb"}, "name"},
		{"nothing to see", map[string]any{"name": "\u200b"}, "name"},
		{"no character", `{"name":"a\ud800"}`, "name"},
		{"taken", map[string]any{"name": "tAKEN"}, "name"},
		{"no such agent", map[string]any{"name": "x", "agent": "nobody"}, "agent"},
		{"the past", map[string]any{"name": "x", "expires": in(-time.Second)}, "expires"},
		{"too far", map[string]any{"name": "x", "expires": in(5*366*24*time.Hour + time.Hour)}, "expires"},
		{"an empty end", map[string]any{"name": "x", "expires": ""}, "expires"},
		{"a day", map[string]any{"name": "x", "expires": "2999-01-31"}, "expires"},
		{"year 10000", map[string]any{"name": "x", "expires": "10000-01-31T00:00:00Z"}, "expires"},
		{"a number", map[string]any{"name": "x", "expires": 3}, "expires"},
		{"a hash of one's own", map[string]any{"name": "x", "sha256": strings.Repeat("0", 64)}, "sha256"},
		{"a token of one's own", map[string]any{"name": "x", "token": "x"}, "token"},
	}
	for _, tt := range tests {
		status, text := r.request("POST", "/api/tokens", tt.body)
		if status != http.StatusBadRequest || !strings.Contains(text, `"field":"`+tt.field+`"`) {
			t.Errorf("%s = %d %s, want 400 naming %s", tt.name, status, text, tt.field)
		}
	}
	for _, good := range []string{strings.Repeat("ñ", 64), "a  b", "日本語", "<b>&'\""} {
		if m := do[made](r, "POST", "/api/tokens", map[string]any{"name": good, "expires": nil}); m.Name != good || !m.Expires.IsZero() {
			t.Errorf("%q became %+v", good, m)
		}
	}
	if list := r.tokens(); len(list) != 5 {
		t.Errorf("%d tokens, want 5", len(list))
	}
	ask, _ := r.host()
	for _, wrong := range []string{"x", tokenPrefix, tokenPrefix + strings.Repeat("A", 43), strings.Repeat("0", 64)} {
		if status, text := ask(wrong, ""); status != http.StatusUnauthorized {
			t.Errorf("%q answers %d %s", wrong, status, text)
		}
	}
	for i := len(r.tokens()); i < maxTokens; i++ {
		do[made](r, "POST", "/api/tokens", map[string]any{"name": fmt.Sprint("n", i)})
	}
	if status, text := r.request("POST", "/api/tokens", map[string]any{"name": "one more"}); status != http.StatusConflict || !strings.Contains(text, "too_many_tokens") {
		t.Errorf("one more than %d = %d %s", maxTokens, status, text)
	}
}

// TestTokensAreTheOwnersPages: a page on another origin makes and ends none.
func TestTokensAreTheOwnersPages(t *testing.T) {
	r := newRig(t)
	other := guard.Client{TokenInfo: guard.TokenInfo{ID: "p", Kind: guard.Page, Origin: "https://ui.example"}, UIOrigin: "https://ui.example"}
	for _, route := range r.server.routes() {
		if !strings.HasPrefix(route.Pattern, "/api/tokens") || route.Method == "GET" {
			continue
		}
		q, _ := http.NewRequestWithContext(guard.WithClient(context.Background(), other), route.Method, route.Pattern, nil)
		w := &statusOnly{}
		route.Handler.ServeHTTP(w, q)
		if w.status != http.StatusForbidden {
			t.Errorf("%s %s answers %d to a page on another origin", route.Method, route.Pattern, w.status)
		}
	}
}

type statusOnly struct{ status int }

func (s *statusOnly) Header() http.Header         { return http.Header{} }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
