package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"zeroclaw/tools"
)

// TestNothingAfterDelete ends calls of a conversation that was deleted while
// they ran: neither the call nor its result may come back.
func TestNothingAfterDelete(t *testing.T) {
	s := fresh(t)
	c := must[Conversation](t)(s.CreateConversation(ctx, "x", nil))
	call := callOf(c)
	if err := s.CallStarted(ctx, call, tools.Outcome{CallID: "1", Status: tools.Running}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteConversation(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteConversation(ctx, c.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleting twice = %v", err)
	}
	if err := s.CallFinished(ctx, call, tools.Outcome{CallID: "1", Status: tools.OK, ModelText: "private"}); err != nil {
		t.Error(err)
	}
	if _, err := s.Put(ctx, call.Owner(), "text/plain", []byte("private")); !errors.Is(err, ErrNotFound) {
		t.Errorf("storing a result of a deleted conversation = %v", err)
	}
	if list := must[[]RecordedCall](t)(s.Calls(ctx, c.ID, 0)); len(list) != 0 {
		t.Errorf("calls are left: %+v", list)
	}
	if left, _ := os.ReadDir(filepath.Join(s.c.Dir, "objects")); len(left) != 0 {
		t.Errorf("stored results are left: %v", left)
	}
}

// TestWeek keeps what belongs to no conversation for a week, and what belongs
// to one for as long as that one.
func TestWeek(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	open := func() *Store { return New(Config{Dir: dir, Now: func() time.Time { return now }}) }
	s := open()
	c := must[Conversation](t)(s.CreateConversation(ctx, "x", nil))
	mine := must[string](t)(s.Put(ctx, c.ID, "text/plain", []byte("x")))
	loose := must[string](t)(s.Put(ctx, "a session", "text/plain", []byte("x")))
	for _, call := range []tools.Call{callOf(c), {ID: "2", Session: "a session"}} {
		if err := s.CallFinished(ctx, call, tools.Outcome{CallID: call.ID, Status: tools.OK}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		wait         time.Duration
		loose, calls int
	}{{6 * 24 * time.Hour, 1, 1}, {2 * 24 * time.Hour, 0, 0}} {
		s.Close()
		now = now.Add(step.wait)
		s = open()
		got := 0
		if _, err := s.Result(ctx, loose, 0, 0); err == nil {
			got = 1
		}
		if _, err := s.Result(ctx, mine, 0, 0); err != nil {
			t.Errorf("the result of a conversation: %v", err)
		}
		if list := must[[]RecordedCall](t)(s.Calls(ctx, "", 0)); got != step.loose || len(list) != step.calls {
			t.Errorf("after %v more: %d results and %d calls of no conversation, want %d and %d", step.wait, got, len(list), step.loose, step.calls)
		}
		if list := must[[]RecordedCall](t)(s.Calls(ctx, c.ID, 0)); len(list) != 1 {
			t.Errorf("%d calls of the conversation, want 1", len(list))
		}
	}
	s.Close()
	if _, err := os.Stat(s.objectPath(loose)); err == nil {
		t.Error("the file of a result that is no longer kept is still there")
	}
}
