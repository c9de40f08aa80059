package relay

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const secret = "sk-SECRETSECRETSECRET"

// front serves a relay to one provider called work.
func front(t *testing.T, p Provider, tweak func(*Config)) *httptest.Server {
	t.Helper()
	p.Name = "work"
	c := Config{Providers: func(name string) (Provider, bool) { return p, name == "work" }}
	if tweak != nil {
		tweak(&c)
	}
	mux := http.NewServeMux()
	mux.Handle("/llm/{profile}/{rest...}", New(c))
	ts := httptest.NewServer(mux)
	t.Cleanup(ts.Close)
	return ts
}

func backend(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ts
}

func do(t *testing.T, method, url string, h http.Header, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range h {
		req.Header[k] = v
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func TestHeadersBothWays(t *testing.T) {
	var got *http.Request
	var gotBody string
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, gotBody = r, string(b)
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Request-Id", "r1")
		h.Set("X-Ratelimit-Remaining-Requests", "5")
		h.Set("Anthropic-Ratelimit-Tokens-Limit", "9")
		h.Set("Set-Cookie", "a=b")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Content-Security-Policy", "none")
		io.WriteString(w, `{"ok":true}`)
	})
	page := http.Header{
		"Authorization": {"Bearer page-token"}, "X-Api-Key": {"page-token"}, "Cookie": {"c=d"}, "Origin": {"http://127.0.0.1:1"},
		"Referer": {"http://127.0.0.1:1/"}, "User-Agent": {"Browser"}, "X-Forwarded-For": {"1.2.3.4"}, "Connection": {"X-Stainless-Lang"},
		"Anthropic-Dangerous-Direct-Browser-Access": {"true"}, "Sec-Fetch-Site": {"same-origin"}, "Accept-Encoding": {"gzip"},
		"X-Stainless-Retry-Count": {"0"}, "Content-Type": {"application/json"}, "Anthropic-Beta": {"b1"}, "Openai-Organization": {"o"},
	}
	for _, tt := range []struct {
		kind, key, path, want string
		present               map[string]string
	}{
		{OpenAI, secret, "chat/completions", "/v1/chat/completions", map[string]string{"Authorization": "Bearer " + secret, "X-Stainless-Retry-Count": "0", "Openai-Organization": "o"}},
		{OpenAI, "", "v1/chat/completions", "/v1/chat/completions", map[string]string{}},
		{Anthropic, secret, "v1/messages", "/v1/messages", map[string]string{"X-Api-Key": secret, "Anthropic-Version": anthropicVersion, "Anthropic-Beta": "b1"}},
		{Anthropic, "", "v1/messages/count_tokens", "/v1/messages/count_tokens", map[string]string{"Anthropic-Version": anthropicVersion}},
	} {
		ts := front(t, Provider{Kind: tt.kind, BaseURL: up.URL, Key: tt.key}, nil)
		status, h, body := do(t, "POST", ts.URL+"/llm/work/"+tt.path+"?beta=true", page, `{"a":1}`)
		if status != 200 || body != `{"ok":true}` || gotBody != `{"a":1}` || got.URL.Path != tt.want || got.URL.RawQuery != "beta=true" {
			t.Errorf("%s: %d %q; the provider saw %s with %q", tt.path, status, body, got.URL, gotBody)
		}
		for k, v := range tt.present {
			if got.Header.Get(k) != v {
				t.Errorf("%s: %s = %q, want %q", tt.path, k, got.Header.Get(k), v)
			}
		}
		if strings.Contains(fmt.Sprint(got.Header), "page-token") {
			t.Errorf("%s: the page's token left: %v", tt.path, got.Header)
		}
		for _, k := range []string{"Cookie", "Origin", "Referer", "X-Forwarded-For", "Sec-Fetch-Site", "Anthropic-Dangerous-Direct-Browser-Access", "Accept-Encoding"} {
			if got.Header.Get(k) != "" {
				t.Errorf("%s: %s went through", tt.path, k)
			}
		}
		if tt.key == "" && (got.Header.Get("Authorization") != "" || got.Header.Get("X-Api-Key") != "") {
			t.Errorf("%s: a key without a key", tt.path)
		}
		for k, want := range map[string]bool{"X-Request-Id": true, "X-Ratelimit-Remaining-Requests": true, "Anthropic-Ratelimit-Tokens-Limit": true,
			"Set-Cookie": false, "Access-Control-Allow-Origin": false, "Content-Security-Policy": false} {
			if (h.Get(k) != "") != want {
				t.Errorf("%s: answer header %s present = %v, want %v", tt.path, k, !want, want)
			}
		}
	}
	ts := front(t, Provider{Kind: Anthropic, BaseURL: up.URL + "/v1/"}, nil)
	do(t, "POST", ts.URL+"/llm/work/v1/messages", http.Header{"Anthropic-Version": {"2026-10-21"}}, "{}")
	if got.URL.Path != "/v1/messages" || got.Header.Get("Anthropic-Version") != "2026-10-21" {
		t.Errorf("the SDK's version = %q at %s", got.Header.Get("Anthropic-Version"), got.URL)
	}
}

func TestTarget(t *testing.T) {
	for _, tt := range []struct {
		kind, base, method, rest, want, code string
	}{
		{OpenAI, "https://api.example/v1", "POST", "chat/completions", "https://api.example/v1/chat/completions", ""},
		{OpenAI, "https://api.example/v1/", "GET", "models", "https://api.example/v1/models", ""},
		{OpenAI, "https://api.example", "GET", "models/meta-llama/Llama-3:free", "https://api.example/v1/models/meta-llama/Llama-3:free", ""},
		{OpenAI, "https://api.example/openai/v2?api-version=1", "POST", "embeddings", "https://api.example/openai/v2/embeddings?api-version=1", ""},
		{OpenAI, "http://localhost:1234/v1", "POST", "responses", "http://localhost:1234/v1/responses", ""},
		{OpenAI, "http://192.168.1.2:1234/v1", "GET", "responses/resp_1", "http://192.168.1.2:1234/v1/responses/resp_1", ""},
		{OpenAI, "http://[::1]:8080/v1", "GET", "models", "http://[::1]:8080/v1/models", ""},
		{Anthropic, "https://api.example", "POST", "messages", "https://api.example/v1/messages", ""},
		{Anthropic, "https://api.example/v1", "POST", "v1/messages", "https://api.example/v1/messages", ""},
		{OpenAI, "https://api.example/v1", "GET", "chat/completions", "", "wrong_method"},
		{OpenAI, "https://api.example/v1", "DELETE", "models/x", "", "wrong_method"},
		{OpenAI, "https://api.example/v1", "POST", "messages", "", "unknown_path"},
		{Anthropic, "https://api.example", "POST", "chat/completions", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "files", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models/../files", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models/x/../../files", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models//x", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models/.", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models/a?b", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models/a#b", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "GET", "models/a\n", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "POST", "", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "POST", "/chat/completions", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "POST", "v1/v1/chat/completions", "", "unknown_path"},
		{OpenAI, "https://api.example/v1", "POST", "http://evil.example/chat/completions", "", "unknown_path"},
		{OpenAI, "http://8.8.8.8/v1", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "http://169.254.169.254/v1", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "ftp://api.example/v1", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "file:///etc", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "https://user:pass@api.example/v1", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "https:///v1", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "api.example/v1", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "https://api.example/a/../b", "GET", "models", "", "provider_misconfigured"},
		{OpenAI, "", "GET", "models", "", "provider_misconfigured"},
		{"gemini", "https://api.example", "GET", "models", "", "provider_misconfigured"},
	} {
		u, f := target(Provider{Name: "p", Kind: tt.kind, BaseURL: tt.base}, tt.method, tt.rest, "")
		switch {
		case tt.code == "" && (f != nil || u.String() != tt.want):
			t.Errorf("target(%s, %s %q) = %v, %v, want %s", tt.base, tt.method, tt.rest, u, f, tt.want)
		case tt.code != "" && (f == nil || f.code != tt.code):
			t.Errorf("target(%s, %s %q) = %v, %v, want %s", tt.base, tt.method, tt.rest, u, f, tt.code)
		}
	}
}

func TestLargeRequest(t *testing.T) {
	up := backend(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	for _, length := range []int64{-1, MaxRequest + 1} {
		req, _ := http.NewRequest("POST", ts.URL+"/llm/work/chat/completions", io.LimitReader(zeros{}, MaxRequest+1))
		req.ContentLength = length
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			if length > 0 {
				continue // the connection may end before everything is sent
			}
			t.Fatal(err)
		}
		if resp.StatusCode != 413 {
			t.Errorf("a body of 32 MiB + 1 = %d, want 413", resp.StatusCode)
		}
		resp.Body.Close()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
