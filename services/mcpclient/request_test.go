package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

func TestRequestsOfOtherParts(t *testing.T) {
	t.Parallel()
	s := &stub{capabilities: `{"tools":{},"resources":{"subscribe":true},"completions":{},"logging":{},"prompts":null}`}
	s.before = func(w http.ResponseWriter, _ *http.Request, m stubMessage) bool {
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "resources/read":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"uri":"x:1","text":"a <b>"}],"asked":%s}}`, m.ID, m.Params)
		case "resources/templates/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not that"}}`, m.ID)
		default:
			return false
		}
		return true
	}
	newStub(t, s)
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	raw, err := p.(services.RequestPeer).Request(t.Context(), "resources/read", json.RawMessage(`{"uri":"x:1"}`))
	if err != nil || string(raw) != `{"contents":[{"uri":"x:1","text":"a <b>"}],"asked":{"uri":"x:1"}}` {
		t.Errorf("resources/read = %s, %v", raw, err)
	}
	for method, declared := range map[string]bool{"resources/list": true, "resources/subscribe": true, "completion/complete": true, "prompts/list": false, "prompts/get": false} {
		_, err := p.(services.RequestPeer).Request(t.Context(), method, nil)
		if declared && err != nil || !declared && (!errors.Is(err, services.ErrUnsupported) || !strings.Contains(err.Error(), "prompts")) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if s.count("prompts/list")+s.count("prompts/get") > 0 {
		t.Error("what is not declared was asked for")
	}
	// What it declares and refuses all the same is its own error.
	if _, err := p.(services.RequestPeer).Request(t.Context(), "resources/templates/list", nil); err == nil || !strings.Contains(err.Error(), "-32601") || errors.Is(err, services.ErrUnsupported) {
		t.Errorf("resources/templates/list: %v", err)
	}
	for _, bad := range []string{`[1]`, `"x"`, `{`} {
		if _, err := p.(services.RequestPeer).Request(t.Context(), "resources/list", json.RawMessage(bad)); err == nil {
			t.Errorf("the parameters %s were sent", bad)
		}
	}
	// It logs, so it was asked to.
	for range 200 {
		if s.count("logging/setLevel") == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("logging/setLevel was not sent")
}
