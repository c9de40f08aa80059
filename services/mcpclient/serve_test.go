package mcpclient

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"zeroclaw/services"
)

// A request above the limit gets an error, and whoever reads the stream waits
// neither for those that are being answered nor for the server.
func TestRequestsAboveTheLimitAreAnswered(t *testing.T) {
	t.Parallel()
	const more = 100
	w := newLink(&http.Client{}, nil, services.Spec{}, nil, "test", func(text string) { t.Log(text) }, nil)
	thought, taken := make(chan struct{}), make(chan struct{})
	w.SetRequestHandler(func(_ context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		<-thought
		return transport.NewJSONRPCResultResponse(r.ID, []byte(`{}`)), nil
	})
	answers := make(chan string, maxServed+more)
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		for n := range maxServed + more {
			raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%d.","method":"sampling/createMessage","params":{}}`, n)
			m, _ := scanMessage(raw)
			w.deliver(t.Context(), m, raw, func(_ context.Context, body []byte) error {
				<-taken
				answers <- string(body)
				return nil
			})
		}
	}()
	late := time.After(slowdown * 5 * time.Second)
	select {
	case <-delivered:
	case <-late:
		t.Fatal("the reader waits")
	}
	close(taken)
	seen := map[string]bool{}
	for n := range maxServed + more {
		if n == more {
			close(thought)
		}
		select {
		case a := <-answers:
			if refused := strings.Contains(a, "-32603"); refused != (n < more) {
				t.Errorf("answer %d is %s", n, a)
			}
			_, id, _ := strings.Cut(a, `"id":"`)
			id, _, _ = strings.Cut(id, `"`)
			seen[id] = true
		case <-late:
			t.Fatalf("%d requests were answered", n)
		}
	}
	if len(seen) != maxServed+more {
		t.Errorf("%d requests were answered", len(seen))
	}
	w.close()
}
