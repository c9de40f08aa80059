package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"zeroclaw/services"
)

// A call that is refused until a page was opened is sent once more after it
// was; every other refusal is the caller's error, and nobody is asked.
func TestCallRefusedUntilAPageWasOpened(t *testing.T) {
	t.Parallel()
	const page = `{"mode":"url","elicitationId":"1","message":"log in","url":"https://far.example/login"}`
	many := strings.TrimSuffix(strings.Repeat(page+",", maxPagesToOpen+1), ",")
	for _, tt := range []struct {
		name, elicitations, action string
		asked, calls               int32
		succeeds                   bool
	}{
		{"a page", page, "accept", 1, 2, true},
		{"two pages", page + "," + page, "accept", 2, 2, true},
		{"a page that is not opened", page, "decline", 1, 1, false},
		{"none", "", "accept", 0, 1, false},
		{"a form", `{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}`, "accept", 0, 1, false},
		{"no mode", `{"message":"?","url":"https://far.example/"}`, "accept", 0, 1, false},
		{"no url", `{"mode":"url","message":"?"}`, "accept", 0, 1, false},
		{"an empty url", `{"mode":"url","url":""}`, "accept", 0, 1, false},
		{"a url of another type", `{"mode":"url","url":7}`, "accept", 0, 1, false},
		{"a key in other letters", `{"mode":"url","URL":"https://far.example/"}`, "accept", 0, 1, false},
		{"a form beside a page", page + `,{"mode":"form","message":"?"}`, "accept", 0, 1, false},
		{"no object", page + `,"x"`, "accept", 0, 1, false},
		{"too many", many, "accept", 0, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls, asked atomic.Int32
			s := newStub(t, &stub{tools: map[string]func(stubCall){"do": func(c stubCall) {
				if calls.Add(1) > 1 {
					c.text("done")
					return
				}
				c.w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(c.w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"open it first","data":{"elicitations":[%s]}}}`, c.id, tt.elicitations)
			}}})
			p, _ := reach(t, services.TransportHTTP, s.URL, func(_ *services.Spec, h *services.Hooks) {
				h.Ask = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
					asked.Add(1)
					return json.RawMessage(`{"action":"` + tt.action + `"}`), nil
				}
			})
			got, err := call(t, p, "do", `{}`)
			switch {
			case tt.succeeds && (err != nil || got != "done"):
				t.Errorf("do = %q, %v", got, err)
			case !tt.succeeds:
				holds(t, err, "-32042", "open it first")
			}
			if asked.Load() != tt.asked || calls.Load() != tt.calls {
				t.Errorf("the user was asked %d times, %d calls were sent; want %d and %d", asked.Load(), calls.Load(), tt.asked, tt.calls)
			}
		})
	}
}
