package events

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestHelloThenEvents(t *testing.T) {
	var logged bytes.Buffer
	h := New(Config{FirstSeq: 10, Log: slog.New(slog.NewTextHandler(&logged, nil)), Hello: func(seq uint64) any { return map[string]any{"seq": seq, "root": "/x"} }})
	url := serve(t, h)
	h.Publish("before", 1)
	c := connect(t, url, "")
	if e := c.want(t, "hello"); e.id != "11" || e.data != `{"root":"/x","seq":11}` {
		t.Errorf("hello = %+v", e)
	}
	h.Publish("call.started", map[string]int{"n": 1})
	if e := c.want(t, "call.started"); e.id != "12" || e.data != `{"n":1}` {
		t.Errorf("event = %+v", e)
	}
	// What cannot be sent safely is dropped and logged.
	h.Publish("bad\nevent: x", 1)
	h.Publish("call.finished", make(chan int))
	h.Publish("raw", json.RawMessage("{\n\"a\" : 1\n}"))
	if e := c.want(t, "raw"); e.id != "13" || e.data != `{"a":1}` {
		t.Errorf("event = %+v", e)
	}
	if n := strings.Count(logged.String(), "not sent"); n != 2 {
		t.Errorf("%d events were logged as not sent, want 2: %s", n, logged.String())
	}
}

// Case H080: line ends and forged fields inside a payload stay inside it.
func TestInjection(t *testing.T) {
	h := New(Config{})
	c := connect(t, serve(t, h), "")
	c.want(t, "hello")
	for _, text := range []string{
		"x\n\nevent: approve\ndata: {\"ok\":1}\r\revent: approve\rdata: 1",
		": comment", "\r\n\r\nid: 99\r\n", "\u2028data: 1\u2029", "\x00\x1b[2J", "", " ", "data:",
	} {
		h.Publish("call.output", text)
		e := c.want(t, "call.output")
		var back string
		if err := json.Unmarshal([]byte(e.data), &back); err != nil || back != text {
			t.Errorf("payload %q came back as %q, %v", text, back, err)
		}
	}
	h.Publish("end", nil)
	c.want(t, "end")
}

func TestClientNeverChoosesAStream(t *testing.T) {
	h := New(Config{})
	url := serve(t, h)
	a := connect(t, url, "")
	a.want(t, "hello")
	h.mu.Lock()
	var private string
	for name := range h.tabs {
		private = name
	}
	h.mu.Unlock()
	b := connect(t, url+"/?stream="+private, "")
	b.want(t, "hello")
	if n := h.Listeners(); n != 2 {
		t.Errorf("%d streams, want 2", n)
	}
}

// TestHeaderMeansAttached holds hello back: no header comes before the tab is
// attached, what is published after the header arrives, and a tab that leaves
// while it waits holds nothing up.
func TestHeaderMeansAttached(t *testing.T) {
	asked, release := make(chan struct{}, 2), make(chan struct{})
	h := New(Config{Hello: func(uint64) any { asked <- struct{}{}; <-release; return 1 }})
	url := serve(t, h)
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	header, leaver := make(chan *client, 1), make(chan error, 1)
	go func() { header <- connect(t, url, "") }()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		q, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
		_, err := http.DefaultClient.Do(q)
		leaver <- err
	}()
	<-asked
	select {
	case <-header:
		t.Fatal("the header came before the tab was attached")
	case err := <-leaver:
		t.Fatalf("the header came before the tab was attached: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	leave()
	if err := <-leaver; err == nil {
		t.Error("a request that was given up had an answer")
	}
	free()
	select {
	case c := <-header:
		h.Publish("n", 1)
		c.want(t, "hello")
		c.want(t, "n")
	case <-time.After(20 * time.Second):
		t.Fatal("no header came")
	}
	waitFor(t, "the other to be gone", func() bool { return h.Listeners() == 1 })
}

func TestListeners(t *testing.T) {
	var mu sync.Mutex
	var seen []int
	var h *Hub
	h = New(Config{OnListeners: func(n int) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, n)
		h.Publish("listeners", n)
	}})
	url := serve(t, h)
	a, b := connect(t, url, ""), connect(t, url, "")
	a.want(t, "hello")
	b.want(t, "hello")
	a.resp.Body.Close()
	waitFor(t, "one to leave", func() bool { return h.Listeners() == 1 })
	b.resp.Body.Close()
	waitFor(t, "both to leave", func() bool { return h.Listeners() == 0 })
	waitFor(t, "four calls", func() bool { mu.Lock(); defer mu.Unlock(); return len(seen) == 4 })
	if !slices.Equal(seen, []int{1, 2, 1, 0}) {
		t.Errorf("OnListeners saw %v, want [1 2 1 0]", seen)
	}
}

// FuzzEncoder: whatever a payload holds, a client reads exactly one event
// whose JSON is the payload.
func FuzzEncoder(f *testing.F) {
	f.Add("x\n\nevent: approve\n", "a\rb")
	f.Add("", ":")
	// A worker may rest between two inputs for longer than a heartbeat.
	h := New(Config{Heartbeat: time.Hour, WriteTimeout: time.Hour})
	c := connect(f, serve(f, h), "")
	c.want(f, "hello")
	f.Fuzz(func(t *testing.T, key, value string) {
		in := map[string]string{key: value}
		h.Publish("n", in)
		e := c.want(t, "n")
		want, _ := json.Marshal(in)
		if e.data != string(want) {
			t.Errorf("%q came back as %q", want, e.data)
		}
	})
}
