package mcpclient

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"zeroclaw/services"
)

// R003 and R004
func TestRedirects(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var to atomic.Value
	var status, hops atomic.Int32
	s := newStub(t, &stub{before: func(w http.ResponseWriter, r *http.Request, _ stubMessage) bool {
		target := to.Load().(string)
		if target == "" || strings.HasSuffix(r.URL.Path, "/end") {
			return false
		}
		hops.Add(1)
		w.Header().Set("Location", target)
		w.WriteHeader(int(status.Load()))
		return true
	}})
	for _, tt := range []struct {
		to     string
		status int
		want   string // "" = followed
		hops   int32
	}{
		{"/end", 307, "", 1},
		{s.URL + "/end", 308, "", 1},
		{"/loop", 307, "more than 10 times", 11},
		{"/end", 302, "drops the message", 1},
		{"/end", 303, "drops the message", 1},
		{other.URL + "/x", 307, "redirects to " + other.URL, 1},
		{"http://169.254.169.254/latest/meta-data?q=hidden", 307, "redirects to http://169.254.169.254:", 1},
		{"http://[fd00:ec2::254]/", 307, "redirects to http://[fd00:ec2::254]", 1},
		{"http://0.0.0.0/", 307, "redirects to http://0.0.0.0", 1},
		{"file:///etc/passwd", 307, "redirects to file://", 1},
		{"gopher://127.0.0.1/x", 307, "redirects to gopher://", 1},
		{strings.Replace(s.URL, "http:", "https:", 1), 307, "redirects to https://", 1},
		{strings.Replace(s.URL, "http://", "http://user@", 1) + "/end", 307, "redirects to", 1},
		{strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/end", 307, "redirects to http://localhost", 1},
	} {
		to.Store(tt.to)
		status.Store(int32(tt.status))
		hops.Store(0)
		// A known era: one question, one answer.
		p, _, err := tryReach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) {
			spec.Protocol, spec.Headers = "2025-11-25", map[string]string{"Authorization": "Bearer x"}
		})
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.to, err)
				continue
			}
			to.Store("")
			_ = p.Close(t.Context())
			continue
		}
		want := strings.TrimSuffix(tt.want, ":")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", tt.to, err, want)
		}
		if hops.Load() != tt.hops {
			t.Errorf("%s: %d requests", tt.to, hops.Load())
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests reached another server", elsewhere.Load())
	}
}

// R006: a URL that was typed may name this machine.
func TestNothingListens(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{services.TransportHTTP, services.TransportSSE} {
		_, _, err := tryReach(t, transport, "http://127.0.0.1:9/mcp?token=hidden", nil)
		holds(t, err, "cannot connect to 127.0.0.1:9")
		if strings.Contains(err.Error(), "hidden") {
			t.Error(err)
		}
	}
	_, _, err := tryReach(t, services.TransportHTTP, "http://0.0.0.0:9/", nil)
	holds(t, err, "refused", "no server's")
}

func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "http://", "ftp://x/": "http://", "http://": "no host", "http:///x": "no host", "://hidden": "cannot be read", "http://a b/": "cannot be read", "http://x:99999999/": ""} {
		_, _, err := tryReach(t, services.TransportHTTP, given, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestProxies(t *testing.T) {
	t.Parallel()
	environ := []string{"HTTP_PROXY=http://user:pw@proxy.example:3128", "https_proxy=proxy.example:3129", "NO_PROXY=direct.example,10.0.0.0/8"}
	for given, want := range map[string]string{
		"http://far.example/":    "http://user:pw@proxy.example:3128",
		"https://far.example/":   "http://proxy.example:3129",
		"http://direct.example/": "", "http://10.1.2.3/": "",
		"http://localhost:1/": "", "http://127.0.0.1/": "", "https://[::1]/": "", "http://a.localhost/": "",
	} {
		u, err := url.Parse(given)
		if err != nil {
			t.Fatal(err)
		}
		got, err := proxyFor(u, environ)
		if err != nil || want == "" != (got == nil) || got != nil && got.String() != want {
			t.Errorf("proxyFor(%s) = %v, %v, want %q", given, got, err, want)
		}
	}
}

func TestUserHeaders(t *testing.T) {
	t.Parallel()
	h, err := userHeaders(map[string]string{"authorization": "Bearer x", "ACCEPT": "application/json", "X-Y": ""})
	if err != nil || h.Get("Authorization") != "Bearer x" || h.Get("Accept") != "application/json" {
		t.Errorf("userHeaders = %v, %v", h, err)
	}
	for name, value := range map[string]string{
		"X-A": "hidden\r\nX-B: 1", "X-C": "hidden\x00", "X-D": "hidden\n", "X E": "hidden", "": "hidden", "X:F": "hidden", "X\r\nG": "hidden",
		"content-length": "hidden", "Transfer-Encoding": "hidden", "HOST": "hidden", "accept-encoding": "hidden", "Mcp-Session-Id": "hidden",
		"mcp-param-x": "hidden", "idempotency-key": "hidden", "Connection": "hidden",
	} {
		_, err := userHeaders(map[string]string{name: value})
		if err == nil || strings.Contains(err.Error(), "hidden") || strings.ContainsAny(err.Error(), "\r\n\x00") {
			t.Errorf("userHeaders(%q) = %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "header") {
			t.Errorf("userHeaders(%q) = %v", name, err)
		}
	}
	if _, err := userHeaders(map[string]string{"X-A": "1", "x-a": "2"}); err == nil {
		t.Error("a header is given twice")
	}
}
