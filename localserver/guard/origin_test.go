package guard

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestNavigationGoesToTheNumber(t *testing.T) {
	g := start(t, "", nil)
	host := fmt.Sprintf("Host: localhost:%d", g.port)
	for _, h := range [][]string{{host, "Sec-Fetch-Mode: navigate"}, {host, "Accept: text/html,*/*"}} {
		resp, _ := g.ask(t, "GET", "/?a=1", h, "")
		want := fmt.Sprintf("http://127.0.0.1:%d/?a=1", g.port)
		if resp.StatusCode != 307 || resp.Header.Get("Location") != want {
			t.Errorf("%v = %d to %q, want 307 to %q", h, resp.StatusCode, resp.Header.Get("Location"), want)
		}
	}
	if resp, _ := g.ask(t, "GET", "/app.js", []string{host, "Sec-Fetch-Mode: no-cors"}, ""); resp.StatusCode != 200 {
		t.Errorf("a sub-resource on localhost = %d, want 200", resp.StatusCode)
	}
}

func TestPreflight(t *testing.T) {
	const ui = "https://ui.example"
	g := start(t, ui, nil)
	ask := []string{"Origin: " + ui, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"}
	for _, tt := range []struct {
		path string
		llm  bool
	}{{"/api/sessions/s/calls", false}, {"/llm/work/chat/completions", true}} {
		resp, _ := g.ask(t, "OPTIONS", tt.path, ask, "")
		h := resp.Header
		age, _ := strconv.Atoi(h.Get("Access-Control-Max-Age"))
		if resp.StatusCode != 204 || h.Get("Access-Control-Allow-Origin") != ui || age < 1 || age > 600 {
			t.Errorf("%s = %d %v", tt.path, resp.StatusCode, h)
		}
		if !strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin") {
			t.Errorf("%s: no Vary: Origin", tt.path)
		}
		allowed := strings.ToLower("," + strings.ReplaceAll(h.Get("Access-Control-Allow-Headers"), " ", "") + ",")
		for _, name := range []string{"authorization", "content-type", "last-event-id", "prefer"} {
			if !strings.Contains(allowed, ","+name+",") {
				t.Errorf("%s: %s is not allowed", tt.path, name)
			}
		}
		// What the pinned SDKs put on a request made in a browser.
		for _, name := range []string{"accept", "user-agent", "x-stainless-retry-count", "x-stainless-timeout", "x-stainless-lang",
			"x-stainless-package-version", "x-stainless-os", "x-stainless-arch", "x-stainless-runtime", "x-stainless-runtime-version",
			"x-stainless-helper-method", "x-stainless-helper", "x-stainless-poll-helper", "x-stainless-custom-poll-interval",
			"openai-organization", "openai-project", "anthropic-version", "anthropic-beta", "x-api-key", "idempotency-key",
			"anthropic-dangerous-direct-browser-access", "anthropic-workspace-id"} {
			if got := strings.Contains(allowed, ","+name+","); got != tt.llm {
				t.Errorf("%s: %s allowed = %v, want %v", tt.path, name, got, tt.llm)
			}
		}
	}
	// An answer, and an error too, names the origin.
	resp, _ := g.ask(t, "GET", "/api/status", []string{"Origin: " + ui}, "")
	if resp.StatusCode != 401 || resp.Header.Get("Access-Control-Allow-Origin") != ui {
		t.Errorf("401 to the UI = %d %v", resp.StatusCode, resp.Header)
	}
	resp, _ = g.ask(t, "GET", "/", nil, "")
	if !strings.Contains(strings.Join(resp.Header.Values("Vary"), ","), "Origin") {
		t.Error("an answer without Origin does not vary by it")
	}
	// Without a configured origin there is no preflight at all.
	none := start(t, "", nil)
	if resp, _ := none.ask(t, "OPTIONS", "/api/status", ask, ""); resp.StatusCode != 403 {
		t.Errorf("preflight without --ui = %d, want 403", resp.StatusCode)
	}
}

func TestUIOriginNeedsAPerson(t *testing.T) {
	const ui = "https://ui.example"
	g := start(t, ui, nil)
	h := []string{"Origin: " + ui, "Authorization: Bearer " + uiToken}
	g.confirmed.Store(false)
	if resp, body := g.ask(t, "GET", "/api/status", h, ""); resp.StatusCode != 403 || !strings.Contains(body, "origin_unconfirmed") {
		t.Errorf("before a person agreed = %d %s, want 403", resp.StatusCode, body)
	}
	if resp, _ := g.ask(t, "POST", "/api/pair", []string{"Origin: " + ui, js}, "{}"); resp.StatusCode != 200 || g.last.Load().(Client).UIOrigin != ui {
		t.Errorf("pairing = %d from %+v, want 200 from %s", resp.StatusCode, g.last.Load(), ui)
	}
	g.confirmed.Store(true)
	if resp, _ := g.ask(t, "GET", "/api/status", h, ""); resp.StatusCode != 200 || g.last.Load().(Client).Loopback() {
		t.Errorf("after = %d, loopback %v, want 200 and not loopback", resp.StatusCode, g.last.Load().(Client).Loopback())
	}
	if g.ask(t, "GET", "/api/status", []string{auth}, ""); !g.last.Load().(Client).Loopback() {
		t.Error("the page on 127.0.0.1 is not taken for it")
	}
	if (Client{}).Loopback() || (Client{TokenInfo: TokenInfo{Kind: Named}}).Loopback() {
		t.Error("nobody and a named token count as the loopback page")
	}
}
