package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

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
