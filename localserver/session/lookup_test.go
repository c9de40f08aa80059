package session

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// TestUnknownToolHasOneSentence: a name that was made up and a tool that the
// session may not reach are refused alike.
func TestUnknownToolHasOneSentence(t *testing.T) {
	s := newSessions(t)
	none := []string{}
	n, err := s.Open(OpenRequest{AllowedTools: &none})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"format_disk", "talk", "server__tool"} {
		id, err := n.Start(tools.Call{Tool: name, Arguments: json.RawMessage("{}")})
		if err != nil {
			t.Fatal(err)
		}
		o, err := n.Wait(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want := permissions.Decide(permissions.Settings{}, permissions.Grant{}, permissions.Request{Tool: name, Origin: permissions.OriginLocal})
		if o.Status != tools.Denied || o.Key != "unknown_tool" || o.Reason != want.Reason || o.Args["tool"] != name {
			t.Errorf("%s ended %+v, want the refusal %q", name, o, want.Reason)
		}
	}
}

// faulty is a tool with a fault of ours in it.
type faulty struct{ talker }

func (faulty) Run(context.Context, json.RawMessage) (tools.Result, error) {
	panic("a fault in the tool")
}

// TestFaultsAreLogged: what goes wrong inside goes to the companion's own log.
func TestFaultsAreLogged(t *testing.T) {
	log := &safeBuffer{}
	s := newSessions(t, func(c *Config) {
		c.Local, c.Log = []tools.Tool{faulty{}}, slog.New(slog.NewTextHandler(log, nil))
	})
	n := open(t, s)
	id, err := n.Start(tools.Call{Tool: "talk", Arguments: json.RawMessage("{}")})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := n.Wait(t.Context(), id); err != nil || o.Status != tools.Failed {
		t.Errorf("ended %+v, %v", o, err)
	}
	if !strings.Contains(log.String(), "faulty.Run") {
		t.Errorf("the log says %q", log.String())
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
