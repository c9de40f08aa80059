package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/tools"
)

// talker is a tool that returns as many bytes as it is asked for; with wait
// set it ends only with its call.
type talker struct{}

func (talker) Spec() tools.Spec {
	return tools.Spec{Name: "talk", OwnName: "talk", Origin: permissions.OriginLocal, InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func (talker) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	var in struct {
		Bytes int
		Wait  bool
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return tools.Result{}, err
	}
	if in.Wait {
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}
	return tools.Text(strings.Repeat("x", in.Bytes)), nil
}

// plain is a Finisher that keeps results as they are.
type plain struct{}

func (plain) Finish(_ context.Context, _ tools.Call, _ tools.Spec, r tools.Result, o *tools.Outcome) {
	for _, c := range r.Content {
		text, _ := json.Marshal(c.Text)
		o.Content = append(o.Content, text)
	}
}

// clock is a time that only moves when it is read.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// newSessions are sessions with the one tool talk, which always runs.
func newSessions(t *testing.T, change ...func(*Config)) *Sessions {
	t.Helper()
	home := t.TempDir()
	policy, err := OpenPolicy(filepath.Join(home, "bases"), true)
	if err != nil {
		t.Fatal(err)
	}
	policy.values = Values{Policy: permissions.PolicyAsk, Tools: map[string]permissions.ToolSetting{"talk": {Mode: permissions.ModeAllow}}}
	now := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	var ids int
	var mu sync.Mutex
	newID := func() string {
		mu.Lock()
		defer mu.Unlock()
		ids++
		return "id" + strconv.Itoa(ids)
	}
	memory, err := approval.OpenMemory(filepath.Join(home, "memory"), newID, now.Now)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Home: home, State: filepath.Join(home, ".zeroclaw"), Root: func() string { return home }, Pids: func() []int { return nil },
		Local: []tools.Tool{talker{}}, Policy: policy, Memory: memory,
		Inputs:   func() permissions.Inputs { return permissions.Inputs{} },
		Finisher: plain{}, Publish: func(string, any) {}, Redact: func(s string) string { return s },
		Started: func(tools.Call, tools.Outcome) {}, Changed: func(tools.Call, tools.Outcome) {}, Ended: func(tools.Call, tools.Outcome, tools.Judged, approval.Resolution) {},
		Closed: func(string) {}, Now: now.Now, NewID: newID,
	}
	for _, f := range change {
		f(&c)
	}
	s := New(c)
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, s *Sessions) *Session {
	t.Helper()
	n, err := s.Open(OpenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// talk calls the tool and waits for its end.
func talk(t *testing.T, n *Session, bytes int) tools.Outcome {
	t.Helper()
	id, err := n.Start(tools.Call{Tool: "talk", Arguments: json.RawMessage(fmt.Sprintf(`{"Bytes":%d}`, bytes))})
	if err != nil {
		t.Fatal(err)
	}
	o, err := n.Wait(t.Context(), id)
	if err != nil || o.Status != tools.OK {
		t.Fatalf("the call ended %+v, %v", o, err)
	}
	return o
}

// held adds up what all calls of all sessions keep in memory, in bytes.
func held(s *Sessions) (bytes int) {
	for _, n := range s.List() {
		for _, c := range n.Calls() {
			bytes += c.Outcome.Size() + len(c.Arguments)
		}
	}
	return bytes
}

// TestEndedCallsAreBounded runs many big calls in several sessions: the newest
// are kept whole, the older ones say that they are not.
func TestEndedCallsAreBounded(t *testing.T) {
	s := newSessions(t)
	const size = 1 << 20
	sessions := []*Session{open(t, s), open(t, s), open(t, s)}
	var ids [][2]string
	for i := range 90 {
		n := sessions[i%3]
		o := talk(t, n, size)
		if len(o.Content) != 1 || len(o.Content[0]) < size {
			t.Fatalf("whoever waits for call %d does not get it whole", i)
		}
		ids = append(ids, [2]string{n.ID, o.CallID})
	}
	if got := held(s); got > maxRetained || got < maxRetained/2 {
		t.Errorf("%d bytes are held, want at most %d and not much less", got, maxRetained)
	}
	for i, id := range ids {
		n, err := s.Get(id[0])
		if err != nil {
			t.Fatal(err)
		}
		o, err := n.Call(id[1])
		if err != nil || o.Status != tools.OK || o.DurationMS == 0 {
			t.Errorf("call %d is %+v, %v", i, o, err)
		}
		whole := len(o.Content) == 1
		if whole == o.Partial || (i < 60 && whole) || (i > 70 && !whole) {
			t.Errorf("call %d of 90: partial %v, whole %v", i, o.Partial, whole)
		}
	}
	// One that is larger than everything is kept until another ends.
	if o := talk(t, sessions[0], maxRetained+size); o.Partial {
		t.Error("a caller gets a huge result in part")
	}
	talk(t, sessions[1], 10)
	if got := held(s); got > 1<<10 {
		t.Errorf("%d bytes are held after a huge call, want them gone", got)
	}
}

// TestClosedSessionsHoldNothing gives the room of a closed session to others.
func TestClosedSessionsHoldNothing(t *testing.T) {
	s := newSessions(t)
	for range 20 {
		n := open(t, s)
		for range 5 {
			talk(t, n, 1<<20)
		}
		if err := s.CloseSession(n.ID); err != nil {
			t.Fatal(err)
		}
	}
	if s.kept.bytes != 0 || s.kept.calls.Len() != 0 || len(s.kept.at) != 0 {
		t.Errorf("%d bytes of %d calls are counted for closed sessions", s.kept.bytes, s.kept.calls.Len())
	}
	n := open(t, s)
	for range keepCalls + maxOpen + 50 {
		talk(t, n, 10)
	}
	if s.kept.calls.Len() != len(n.Calls()) {
		t.Errorf("%d calls are counted, %d are kept", s.kept.calls.Len(), len(n.Calls()))
	}
}

// TestIdlestSessionMakesRoom opens one session too many: the one that was used
// least lately goes, not one that is used, at work, or has processes.
func TestIdlestSessionMakesRoom(t *testing.T) {
	busy := map[string]bool{}
	s := newSessions(t, func(c *Config) { c.Busy = func(id string) bool { return busy[id] } })
	var all []*Session
	for range maxSessions {
		all = append(all, open(t, s))
	}
	asked, called, working, background, idle := all[0], all[1], all[2], all[3], all[4]
	if _, err := s.Get(asked.ID); err != nil {
		t.Fatal(err)
	}
	talk(t, called, 1)
	running, err := working.Start(tools.Call{Tool: "talk", Arguments: json.RawMessage(`{"Wait":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	// What was used since then is newer than the one at work.
	for _, n := range all[5:] {
		if _, err := s.Get(n.ID); err != nil {
			t.Fatal(err)
		}
	}
	busy[background.ID] = true
	open(t, s)
	for _, n := range []*Session{asked, called, working, background, all[5]} {
		if _, err := s.Get(n.ID); err != nil {
			t.Errorf("session %s: %v", n.ID, err)
		}
	}
	if _, err := s.Get(idle.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("the idlest session is still there: %v", err)
	}
	if o, _ := working.Call(running); o.Status.Ended() {
		t.Errorf("the call that was under way is %s", o.Status)
	}
	if n := len(s.List()); n != maxSessions {
		t.Errorf("%d sessions are open, want %d", n, maxSessions)
	}
}

// TestCloseWaitsForWhatIsClosing: a session that a request is closing has not
// ended yet; whoever closes the store after Close relies on its last words.
func TestCloseWaitsForWhatIsClosing(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	s := newSessions(t, func(c *Config) {
		c.Ended = func(tools.Call, tools.Outcome, tools.Judged, approval.Resolution) {
			close(entered)
			<-release
			ended.Store(true)
		}
	})
	n := open(t, s)
	if _, err := n.Start(tools.Call{Tool: "talk", Arguments: json.RawMessage(`{"Wait":true}`)}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.CloseSession(n.ID) }()
	<-entered
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("Close did not wait for the session that was being closed")
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	<-closed
	if !ended.Load() {
		t.Error("the call had not ended when Close returned")
	}
}

// TestNoSessionOpensAtTheEnd opens sessions while all are being closed.
func TestNoSessionOpensAtTheEnd(t *testing.T) {
	s := newSessions(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				n, err := s.Open(OpenRequest{})
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Errorf("Open = %v, want ErrClosed", err)
					}
					return
				}
				_, _ = n.Start(tools.Call{Tool: "talk", Arguments: json.RawMessage(`{"Wait":true}`)})
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	s.Close()
	group.Wait()
	if left := s.List(); len(left) != 0 {
		t.Errorf("%d sessions are left", len(left))
	}
}
