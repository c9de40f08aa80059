package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/tools"
)

var ctx = context.Background()

func fresh(t testing.TB) *Store { return at(t, t.TempDir()) }

func at(t testing.TB, dir string) *Store {
	t.Helper()
	s := New(Config{Dir: dir})
	t.Cleanup(func() { s.Close() })
	return s
}

func msg(role, text string) Message {
	data, _ := json.Marshal(map[string]string{"text": text})
	return Message{ID: "m-" + text[:min(len(text), 100)], Role: role, Data: data}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func texts(p Page) string {
	var b []string
	for _, m := range p.Messages {
		b = append(b, fmt.Sprintf("%d%s", m.Seq, strings.TrimPrefix(m.ID, "m-")))
	}
	return strings.Join(b, " ")
}

func TestNothingUntilUsed(t *testing.T) {
	dir := t.TempDir()
	s := New(Config{Dir: dir})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("an unused store made %v", list)
	}
	if _, err := s.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a closed store answers %v", err)
	}
}

func TestCalls(t *testing.T) {
	dir := t.TempDir()
	s := at(t, dir)
	c := must[Conversation](t)(s.CreateConversation(ctx, "x", nil))
	call := func(id string) tools.Call {
		return tools.Call{ID: id, Session: "s", Conversation: c.ID, Tool: "read_file", Arguments: json.RawMessage(`{"path":"a"}`)}
	}
	began := time.Now().UTC().Truncate(time.Millisecond)
	out := func(id string, st tools.Status) tools.Outcome {
		return tools.Outcome{CallID: id, Tool: "read_file", Status: st, Started: began}
	}
	for _, id := range []string{"1", "2", "3"} {
		if err := s.CallStarted(ctx, call(id), out(id, tools.Running)); err != nil {
			t.Fatal(err)
		}
	}
	big := out("2", tools.OK)
	big.Content = []json.RawMessage{json.RawMessage(`{"type":"text","text":"` + strings.Repeat("x", 2<<20) + `"}`)}
	if err := errors.Join(s.CallFinished(ctx, call("1"), out("1", tools.OK)), s.CallFinished(ctx, call("2"), big),
		s.CallFinished(ctx, call("4"), out("4", tools.Denied))); err != nil {
		t.Fatal(err)
	}
	check := func(want ...tools.Status) {
		t.Helper()
		list := must[[]RecordedCall](t)(s.Calls(ctx, c.ID, 0))
		if len(list) != len(want) {
			t.Fatalf("%d calls, want %d", len(list), len(want))
		}
		for i, r := range list {
			if r.Status != want[i] || r.CallID != fmt.Sprint(i+1) || string(r.Arguments) != `{"path":"a"}` || r.Session != "s" || !r.Started.Equal(began) {
				t.Errorf("call %d = %+v, want %s", i+1, r, want[i])
			}
		}
		if !list[1].Partial || list[1].Content != nil {
			t.Error("a result of 2 MiB is kept with the call")
		}
	}
	check(tools.OK, tools.OK, tools.Running, tools.Denied)
	s.Close()
	s = at(t, dir)
	var told []string
	s.c.Interrupted = func(c tools.Call, o tools.Outcome) { told = append(told, c.Session+c.ID+o.Key) }
	check(tools.OK, tools.OK, tools.Interrupted, tools.Denied)
	if !slices.Equal(told, []string{"s3interrupted"}) {
		t.Errorf("told of the interrupted calls %v", told)
	}
	text, _ := json.Marshal(must[[]RecordedCall](t)(s.Calls(ctx, c.ID, 0))[2])
	for _, want := range []string{`"call_id":"3"`, `"session":"s"`, `"arguments":{"path":"a"}`, `"status":"interrupted"`, `"reason":"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("a call as JSON lacks %s: %s", want, text)
		}
	}
}

// callOf is a call of a session of the conversation.
func callOf(c Conversation) tools.Call {
	return tools.Call{ID: "1", Session: "s" + c.ID, Conversation: c.ID}
}

func TestDelete(t *testing.T) {
	s := fresh(t)
	a := must[Conversation](t)(s.CreateConversation(ctx, "a", nil))
	b := must[Conversation](t)(s.CreateConversation(ctx, "b", nil))
	for i, c := range []Conversation{a, b} {
		call := callOf(c)
		if _, _, err := s.Append(ctx, c.ID, 1, 0, []Message{msg("user", "walrus secretword")}); err != nil {
			t.Fatal(err)
		}
		if err := s.CallFinished(ctx, call, tools.Outcome{CallID: "1", Status: tools.OK}); err != nil {
			t.Fatal(err, i)
		}
	}
	gone := must[string](t)(s.Put(ctx, callOf(a).Owner(), "text/plain", []byte("x")))
	kept := must[string](t)(s.Put(ctx, callOf(b).Owner(), "text/plain", []byte("x")))
	if err := s.DeleteConversation(ctx, a.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteConversation(ctx, a.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleting twice = %v", err)
	}
	if _, err := s.Conversation(ctx, a.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("the deleted = %v", err)
	}
	if hits := must[[]Hit](t)(s.Search(ctx, "walrus", 0)); len(hits) != 1 || hits[0].Conversation != b.ID {
		t.Errorf("hits after deleting: %+v", hits)
	}
	if _, err := s.Result(ctx, gone, 0, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("the result of a deleted conversation = %v", err)
	}
	if _, err := os.Stat(s.objectPath(gone)); err == nil {
		t.Error("its file is still there")
	}
	if _, err := s.Result(ctx, kept, 0, 0); err != nil {
		t.Error(err)
	}
	// Deleted text is not left in the file.
	if err := s.DeleteConversation(ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, name := range []string{dbName, dbName + "-wal"} {
		if text, _ := os.ReadFile(filepath.Join(s.c.Dir, name)); bytes.Contains(text, []byte("secretword")) {
			t.Errorf("deleted text is still in %s", name)
		}
	}
}
