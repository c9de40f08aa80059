package relay

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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
