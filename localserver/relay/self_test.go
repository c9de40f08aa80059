package relay

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestCompanionIsNoProvider: a request to the companion's own port would come
// back as another one, without end. However loopback is written, it is refused
// before anything is sent; another port of the same address is not.
func TestCompanionIsNoProvider(t *testing.T) {
	asked := 0
	other := backend(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"data":[]}`))
	})
	own := other.Listener.Addr().(*net.TCPAddr).Port
	setOwn := func(port int) func(*Config) {
		return func(c *Config) { c.OwnPort = func() int { return port } }
	}
	for _, kind := range []string{OpenAI, Anthropic} {
		for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "127.255.255.254", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"} {
			for _, scheme := range []string{"http", "https"} {
				p := Provider{Kind: kind, BaseURL: scheme + "://" + host + ":" + strconv.Itoa(own) + "/llm/work/v1", Key: secret}
				ts := front(t, p, setOwn(own))
				status, _, body := do(t, "GET", ts.URL+"/llm/work/models", nil, "")
				// A few of these are refused as no near address, even before.
				if status != http.StatusBadGateway || !strings.Contains(body, "provider_is_companion") && !strings.Contains(body, "provider_misconfigured") {
					t.Errorf("%s: %d %s", p.BaseURL, status, body)
				}
				relay := New(Config{OwnPort: func() int { return own }})
				if got := relay.Test(t.Context(), p); got.OK || !strings.Contains(got.Reason, "companion itself") && !strings.Contains(got.Reason, "unencrypted") {
					t.Errorf("a test of %s says %+v", p.BaseURL, got)
				}
			}
		}
	}
	if asked != 0 {
		t.Errorf("%d requests were sent", asked)
	}
	ts := front(t, Provider{Kind: OpenAI, BaseURL: other.URL}, setOwn(own+1))
	if status, _, body := do(t, "GET", ts.URL+"/llm/work/models", nil, ""); status != http.StatusOK {
		t.Errorf("a server on another port: %d %s", status, body)
	}
}
