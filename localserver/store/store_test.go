package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

func TestAppend(t *testing.T) {
	s := fresh(t)
	c := must[Conversation](t)(s.CreateConversation(ctx, "chat", json.RawMessage(`{"model":"m"}`)))
	if c.Version != 1 || c.Messages != 0 || string(c.Meta) != `{"model":"m"}` {
		t.Fatalf("new conversation = %+v", c)
	}
	for i, tt := range []struct {
		version, after int64
		add            []Message
		err            error
		seqs           []int64
		then           string
	}{
		{1, 0, []Message{msg("user", "a"), msg("assistant", "b")}, nil, []int64{1, 2}, "1a 2b"},
		{1, 2, []Message{msg("user", "c")}, ErrChanged, nil, "1a 2b"},
		{2, 3, []Message{msg("user", "c")}, ErrChanged, nil, "1a 2b"},
		{2, -1, []Message{msg("user", "c")}, ErrChanged, nil, "1a 2b"},
		{2, 2, []Message{msg("user", "c"), msg("robot", "d")}, ErrInvalid, nil, "1a 2b"},
		{2, 2, []Message{{Role: "user", Data: json.RawMessage(`[1]`)}}, ErrInvalid, nil, "1a 2b"},
		{2, 2, []Message{{Role: "user", Data: json.RawMessage(`{"a":`)}}, ErrInvalid, nil, "1a 2b"},
		{2, 2, []Message{msg("user", "c"), msg("call", "d"), msg("tool", "e")}, nil, []int64{3, 4, 5}, "1a 2b 3c 4d 5e"},
		{3, 1, []Message{msg("assistant", "x")}, nil, []int64{2}, "1a 2x"},
		{4, 2, nil, nil, []int64{}, "1a 2x"},
		{5, 1, nil, nil, []int64{}, "1a"},
		{6, 0, []Message{msg("user", "z")}, nil, []int64{1}, "1z"},
	} {
		version, seqs, err := s.Append(ctx, c.ID, tt.version, tt.after, tt.add)
		if !errors.Is(err, tt.err) || fmt.Sprint(seqs) != fmt.Sprint(tt.seqs) || err == nil && version != tt.version+1 {
			t.Errorf("step %d: Append = %d, %v, %v, want %v, %v", i, version, seqs, err, tt.seqs, tt.err)
		}
		if got := texts(must[Page](t)(s.Messages(ctx, c.ID, 0, 0))); got != tt.then {
			t.Errorf("step %d: messages %q, want %q", i, got, tt.then)
		}
	}
	if _, _, err := s.Append(ctx, "none", 1, 0, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("appending to nothing = %v", err)
	}
	if _, err := s.Messages(ctx, "none", 0, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("reading nothing = %v", err)
	}
}

func TestParallelAppends(t *testing.T) {
	s := fresh(t)
	c := must[Conversation](t)(s.CreateConversation(ctx, "chat", nil))
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 20 {
		wg.Go(func() {
			_, _, err := s.Append(ctx, c.ID, 1, 0, []Message{msg("user", fmt.Sprint(i))})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if p := must[Page](t)(s.Messages(ctx, c.ID, 0, 0)); won != 1 || len(p.Messages) != 1 {
		t.Errorf("%d of 20 appends to one version won, %d messages", won, len(p.Messages))
	}
}

func TestPaging(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	s := New(Config{Dir: t.TempDir(), Now: func() time.Time { return now }})
	defer s.Close()
	var ids []string
	for i := range 7 {
		now = now.Add(time.Duration(i%2) * time.Millisecond) // pairs share a time
		ids = append(ids, must[Conversation](t)(s.CreateConversation(ctx, fmt.Sprint(i), nil)).ID)
	}
	var seen []string
	before, pages := "", 0
	for {
		list, next, err := s.Conversations(ctx, before, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			seen = append(seen, c.ID)
			if c.Version != 0 || c.Meta != nil {
				t.Errorf("a list has meta: %+v", c)
			}
		}
		pages++
		if before = next; next == "" {
			break
		}
	}
	if pages != 4 || len(seen) != 7 {
		t.Errorf("%d conversations in %d pages: %v", len(seen), pages, seen)
	}
	now = now.Add(time.Second)
	title := "renamed"
	if c := must[Conversation](t)(s.UpdateConversation(ctx, ids[0], Patch{Title: &title})); c.Title != title || string(c.Meta) != "{}" {
		t.Errorf("renamed = %+v", c)
	}
	if list, _, _ := s.Conversations(ctx, "", 1); list[0].ID != ids[0] {
		t.Error("the last changed is not first")
	}
	for _, bad := range []string{"x", "1", "-", "1e9-x"} {
		if _, _, err := s.Conversations(ctx, bad, 1); !errors.Is(err, ErrInvalid) {
			t.Errorf("before %q = %v", bad, err)
		}
	}
	c := ids[1]
	var many []Message
	for i := range 10 {
		many = append(many, msg("user", fmt.Sprint("-", i)))
	}
	if _, _, err := s.Append(ctx, c, 1, 0, many); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		before int64
		limit  int
		want   string
		more   bool
	}{{0, 3, "8-7 9-8 10-9", true}, {8, 3, "5-4 6-5 7-6", true}, {3, 3, "1-0 2-1", false}, {1, 3, "", false}, {0, 10, "1-0 2-1 3-2 4-3 5-4 6-5 7-6 8-7 9-8 10-9", false}} {
		if p := must[Page](t)(s.Messages(ctx, c, tt.before, tt.limit)); texts(p) != tt.want || p.More != tt.more {
			t.Errorf("Messages(%d, %d) = %q, %v, want %q, %v", tt.before, tt.limit, texts(p), p.More, tt.want, tt.more)
		}
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
	check(tools.OK, tools.OK, tools.Interrupted, tools.Denied)
	text, _ := json.Marshal(must[[]RecordedCall](t)(s.Calls(ctx, c.ID, 0))[2])
	for _, want := range []string{`"call_id":"3"`, `"session":"s"`, `"arguments":{"path":"a"}`, `"status":"interrupted"`, `"reason":"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("a call as JSON lacks %s: %s", want, text)
		}
	}
}

// A process that is killed leaves the start of its call behind.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("STORE_TEST_DIR"); dir != "" {
		s := New(Config{Dir: dir})
		c, err := s.CreateConversation(ctx, "killed", nil)
		if err == nil {
			_, _, err = s.Append(ctx, c.ID, 1, 0, []Message{msg("user", "kept")})
		}
		if err == nil {
			err = s.CallStarted(ctx, tools.Call{ID: "1", Session: "s", Conversation: c.ID}, tools.Outcome{CallID: "1", Status: tools.Running})
		}
		fmt.Println("ready", err)
		time.Sleep(time.Minute)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "STORE_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, _ := out.Read(buf)
	cmd.Process.Kill()
	cmd.Wait()
	if !strings.HasPrefix(string(buf[:n]), "ready <nil>") {
		t.Fatalf("the child said %q", buf[:n])
	}
	s := at(t, dir)
	list, _, err := s.Conversations(ctx, "", 0)
	if err != nil || len(list) != 1 || list[0].Messages != 1 {
		t.Fatalf("after the kill: %+v, %v", list, err)
	}
	if calls := must[[]RecordedCall](t)(s.Calls(ctx, list[0].ID, 0)); len(calls) != 1 || calls[0].Status != tools.Interrupted {
		t.Errorf("after the kill: %+v", calls)
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

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	s := fresh(t)
	if err := os.WriteFile(filepath.Join(s.c.Dir, dbName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	must[Conversation](t)(s.CreateConversation(ctx, "x", nil))
	must[string](t)(s.Put(ctx, "s", "text/plain", []byte("x")))
	filepath.Walk(s.c.Dir, func(path string, info os.FileInfo, err error) error {
		if path != s.c.Dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	other := fresh(t)
	if err := os.Symlink(filepath.Join(s.c.Dir, dbName), filepath.Join(other.c.Dir, dbName)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a planted link = %v", err)
	}
}

func TestDamagedFile(t *testing.T) {
	whole := fresh(t)
	c := must[Conversation](t)(whole.CreateConversation(ctx, "x", nil))
	var many []Message
	for i := range 500 {
		many = append(many, msg("user", strings.Repeat("word ", 50)+fmt.Sprint(i)))
	}
	if _, _, err := whole.Append(ctx, c.ID, 1, 0, many); err != nil {
		t.Fatal(err)
	}
	whole.Close()
	good, err := os.ReadFile(filepath.Join(whole.c.Dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	scribbled := bytes.Clone(good)
	for i := len(scribbled) / 3; i < len(scribbled)/2; i++ {
		scribbled[i] = byte(i * 7)
	}
	for name, text := range map[string][]byte{"text": []byte(strings.Repeat("not a database ", 100)), "cut": good[:len(good)/2], "scribbled": scribbled} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, dbName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := at(t, dir)
		if _, err := s.CreateConversation(ctx, "new", nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kept, _ := filepath.Glob(filepath.Join(dir, dbName+".damaged-*"))
		if len(kept) == 0 || !strings.Contains(s.Problem(), "was damaged") || !strings.Contains(s.Problem(), kept[0]) {
			t.Errorf("%s: kept %v, problem %q", name, kept, s.Problem())
			continue
		}
		if was, _ := os.ReadFile(kept[0]); !bytes.Equal(was, text) {
			t.Errorf("%s: the damaged file was changed", name)
		}
	}
}

func TestCannotWrite(t *testing.T) {
	missing := at(t, filepath.Join(t.TempDir(), "none"))
	if _, err := missing.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("no folder = %v", err)
	}
	newer := fresh(t)
	h, err := newer.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.write.Exec("PRAGMA user_version=999"); err != nil {
		t.Fatal(err)
	}
	newer.Close()
	again := at(t, newer.c.Dir)
	if _, err := again.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer file = %v", err)
	}
	// A full disk: SQLite's own limit gives the same code.
	full := fresh(t)
	c := must[Conversation](t)(full.CreateConversation(ctx, "x", nil))
	h, err = full.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.write.Exec("PRAGMA max_page_count=40"); err != nil {
		t.Fatal(err)
	}
	_, _, err = full.Append(ctx, c.ID, 1, 0, []Message{msg("user", strings.Repeat("x y ", 200_000))})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("a full disk = %v", err)
	}
	if p := must[Page](t)(full.Messages(ctx, c.ID, 0, 0)); p.Version != 1 || len(p.Messages) != 0 {
		t.Errorf("half an append is there: %+v", p)
	}
	if _, _, err := full.Append(ctx, c.ID, 1, 0, []Message{msg("user", "small")}); err != nil {
		t.Errorf("after the failed one: %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("this needs a user whom permission bits bind")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o500)
	if _, err := at(t, dir).CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("a read-only folder = %v", err)
	}
}

// 10,000 messages are appended, read in pages and searched without a wait that
// a person would notice. The bounds are loose: machines differ.
func TestTenThousandMessages(t *testing.T) {
	s := fresh(t)
	c := must[Conversation](t)(s.CreateConversation(ctx, "long", nil))
	begin := time.Now()
	version := int64(1)
	for i := 0; i < manyMessages; i += 500 {
		var batch []Message
		for j := range 500 {
			batch = append(batch, msg("assistant", fmt.Sprintf("message number %d %s", i+j, strings.Repeat("lorem ipsum dolor ", 20))))
		}
		var err error
		if version, _, err = s.Append(ctx, c.ID, version, int64(i), batch); err != nil {
			t.Fatal(err)
		}
	}
	appended := time.Since(begin)
	begin = time.Now()
	p := must[Page](t)(s.Messages(ctx, c.ID, 0, 200))
	last := time.Since(begin)
	begin = time.Now()
	if _, _, err := s.Append(ctx, c.ID, version, manyMessages, []Message{msg("user", "one more")}); err != nil {
		t.Fatal(err)
	}
	one := time.Since(begin)
	begin = time.Now()
	hits := must[[]Hit](t)(s.Search(ctx, "876 number", 0))
	found := time.Since(begin)
	t.Logf("append %v, last 200 %v, one more %v, search %v", appended, last, one, found)
	if len(p.Messages) != 200 || p.Messages[199].Seq != manyMessages || !p.More || len(hits) != 1 || hits[0].Seq != 877 {
		t.Errorf("page of %d, hits %+v", len(p.Messages), hits)
	}
	if timed && (appended > 15*time.Second || last > 500*time.Millisecond || one > 500*time.Millisecond || found > 500*time.Millisecond) {
		t.Error("too slow")
	}
}
