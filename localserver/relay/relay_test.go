package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
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

// Each piece reaches the page when the provider sends it, not later.
func TestStreamsWithoutBuffering(t *testing.T) {
	step := make(chan struct{})
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
			<-step
		}
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	resp, err := http.Post(ts.URL+"/llm/work/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	for i := range 5 {
		line, err := r.ReadString('\n')
		if want := fmt.Sprintf("data: {\"n\":%d}\n", i); err != nil || line != want {
			t.Fatalf("line = %q, %v, want %q", line, err, want)
		}
		r.ReadString('\n')
		step <- struct{}{}
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
}

func TestHalfAStream(t *testing.T) {
	for _, kind := range []string{"text/event-stream; charset=utf-8", "application/json"} {
		up := backend(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, "data: {\"n\":1}\n\ndata: {\"n\":")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
		resp, err := http.Post(ts.URL+"/llm/work/chat/completions", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if kind == "application/json" {
			if err == nil {
				t.Errorf("half a JSON answer was passed as whole: %q", text)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(string(text), "data: {\"n\":1}\n\nevent: error\ndata: {") ||
			!strings.Contains(string(text), "provider_broke_off") || !strings.HasSuffix(string(text), "}\n\n") {
			t.Errorf("half a stream = %q, %v", text, err)
		}
	}
}

func TestPauses(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/embeddings" {
			<-hang
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		// A trickle outlasts the idle time many times over.
		for range 10 {
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(30 * time.Millisecond)
		}
		<-hang
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, func(c *Config) { c.Idle, c.FirstByte = 150*time.Millisecond, 150*time.Millisecond })
	_, _, text := do(t, "POST", ts.URL+"/llm/work/chat/completions", nil, "{}")
	if strings.Count(text, "data: 1\n\n") != 10 || !strings.Contains(text, "provider_paused") {
		t.Errorf("a stream that stops = %q", text)
	}
	status, _, text := do(t, "POST", ts.URL+"/llm/work/embeddings", nil, "{}")
	if status != 504 || !strings.Contains(text, "provider_timeout") {
		t.Errorf("silence = %d %s, want 504", status, text)
	}
}

func TestPageLeaves(t *testing.T) {
	started, cancelled := make(chan struct{}), make(chan struct{})
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		close(started)
		<-r.Context().Done()
		close(cancelled)
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", ts.URL+"/llm/work/chat/completions", strings.NewReader("{}"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-started
	cancel()
	resp.Body.Close()
	select {
	case <-cancelled:
	case <-time.After(5 * time.Second):
		t.Error("the provider still works for a page that has left")
	}
}

func TestProviderErrors(t *testing.T) {
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect key %s, also %s"}}`, secret, "other-secret")
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL, Key: secret}, func(c *Config) {
		c.Redact = func(s string) string { return strings.ReplaceAll(s, "other-secret", "[other]") }
	})
	status, _, body := do(t, "POST", ts.URL+"/llm/work/chat/completions", nil, "{}")
	if status != 401 || body != `{"error":{"message":"Incorrect key [key], also [other]"}}` {
		t.Errorf("the provider's 401 = %d %s", status, body)
	}
	html := backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<script>alert(1)</script>")
	})
	ts = front(t, Provider{Kind: OpenAI, BaseURL: html.URL}, nil)
	if _, h, _ := do(t, "GET", ts.URL+"/llm/work/models", nil, ""); h.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("HTML from a provider is served as %q", h.Get("Content-Type"))
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + ln.Addr().String()
	ln.Close()
	plain := backend(t, func(http.ResponseWriter, *http.Request) {})
	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	defer selfSigned.Close()
	for _, tt := range []struct{ base, code, says string }{
		{gone + "/v1", "provider_unreachable", "no model server answers at " + gone + "; is it started?"},
		{"http://nowhere.invalid/v1", "provider_dns", "nowhere.invalid"},
		{strings.Replace(plain.URL, "http:", "https:", 1) + "/v1", "provider_tls", "write http://"},
		{selfSigned.URL + "/v1", "provider_tls", "certificate"},
	} {
		ts := front(t, Provider{Kind: OpenAI, BaseURL: tt.base, Key: secret}, nil)
		status, h, body := do(t, "POST", ts.URL+"/llm/work/chat/completions", nil, "{}")
		var e struct {
			Error struct{ Code, Message string }
		}
		json.Unmarshal([]byte(body), &e)
		if status != 502 || e.Error.Code != tt.code || !strings.Contains(e.Error.Message, tt.says) || h.Get("X-Should-Retry") != "false" {
			t.Errorf("%s = %d %s, want 502 %s with %q", tt.base, status, body, tt.code, tt.says)
		}
		if strings.Contains(body, secret) {
			t.Errorf("%s: the key is in the error", tt.base)
		}
	}
	ts := front(t, Provider{Kind: OpenAI, BaseURL: gone}, nil)
	if status, _, body := do(t, "POST", ts.URL+"/llm/other/chat/completions", nil, "{}"); status != 404 || !strings.Contains(body, "unknown_provider") {
		t.Errorf("an unknown profile = %d %s", status, body)
	}
}

// A name that leads to a public address gets no plain http connection: the
// check is made on the address that is dialled.
func TestPlainHTTPStaysNear(t *testing.T) {
	for _, tt := range []struct {
		address string
		ok      bool
	}{
		{"127.0.0.1:1", true}, {"127.8.8.8:1", true}, {"[::1]:1", true}, {"10.1.2.3:1", true}, {"192.168.0.1:1", true}, {"172.16.0.1:1", true},
		{"[fd00::1]:1", true}, {"100.100.1.1:1", true}, {"[::ffff:10.0.0.1]:1", true},
		{"8.8.8.8:80", false}, {"169.254.169.254:80", false}, {"172.32.0.1:1", false}, {"0.0.0.0:1", false}, {"[2001:db8::1]:1", false},
		{"[::ffff:8.8.8.8]:1", false}, {"[fe80::1]:1", false}, {"224.0.0.1:1", false}, {"[::]:1", false}, {"x", false},
	} {
		d := control(dialing{}.plain)("tcp", tt.address, nil)
		if (d == nil) != tt.ok {
			t.Errorf("connecting to %s = %v, want ok = %v", tt.address, d, tt.ok)
		}
	}
}

func TestRedirects(t *testing.T) {
	asked := 0
	other := backend(t, func(w http.ResponseWriter, r *http.Request) { asked++ })
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			http.Redirect(w, r, "/v1/models/all", http.StatusMovedPermanently)
		case "/v1/models/all":
			io.WriteString(w, "followed")
		case "/v1/models/loop":
			http.Redirect(w, r, "/v1/models/loop", http.StatusFound)
		case "/v1/models/empty":
			w.WriteHeader(302)
		case "/v1/chat/completions":
			http.Redirect(w, r, "/v1/elsewhere", http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, other.URL+"/x?secret=1", http.StatusTemporaryRedirect)
		}
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL, Key: secret}, nil)
	for _, tt := range []struct {
		method, path string
		want         int
		says         string
	}{
		{"GET", "models", 200, "followed"},
		{"GET", "models/loop", 502, "without end"},
		{"GET", "models/empty", 502, "provider_redirect"},
		{"GET", "models/other", 502, other.URL + "/x;"},
		{"POST", "embeddings", 502, other.URL},
		{"POST", "chat/completions", 502, "/v1/elsewhere"},
	} {
		status, h, body := do(t, tt.method, ts.URL+"/llm/work/"+tt.path, nil, "{}")
		if status != tt.want || !strings.Contains(body, tt.says) || h.Get("Location") != "" || strings.Contains(body, "secret=1") {
			t.Errorf("%s %s = %d %s, want %d %q", tt.method, tt.path, status, body, tt.want, tt.says)
		}
	}
	if asked != 0 {
		t.Error("another origin was asked")
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

func TestWholeEvents(t *testing.T) {
	for in, want := range map[string]int{"": 0, "data: 1": 0, "data: 1\n": 0, "data: 1\n\n": 9, "a\n\nb": 3, "a\r\n\r\nb\r\n": 5, "a\r\rb": 3, "a\n\nb\n\n": 6} {
		if got := wholeEvents([]byte(in)); got != want {
			t.Errorf("wholeEvents(%q) = %d, want %d", in, got, want)
		}
	}
	// A stream without a last empty line, and one event that is very long.
	long := bytes.Repeat([]byte("x"), 3*maxEvent)
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: ")
		w.Write(long)
		io.WriteString(w, "\n\ndata: end")
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	if _, _, body := do(t, "POST", ts.URL+"/llm/work/responses", nil, "{}"); body != "data: "+string(long)+"\n\ndata: end" {
		t.Errorf("%d bytes came through, want %d", len(body), len(long)+17)
	}
}
