package events

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// got is one event as a client reads it, by the rules of the HTML standard
// (9.2.6): CR, LF and CRLF end a line.
type got struct{ id, kind, data, comment string }

type client struct {
	resp  *http.Response
	r     *bufio.Reader
	lines []string // read and split at CR, not yet looked at
}

func serve(t testing.TB, h *Hub) string {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return ts.URL
}

func connect(t testing.TB, url, last string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("GET = %d %v", resp.StatusCode, resp.Header)
	}
	return &client{resp: resp, r: bufio.NewReader(resp.Body)}
}

func (c *client) next() (got, error) {
	var e got
	var data []string
	for {
		line, err := c.line()
		if err != nil {
			return e, err
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			e.data = strings.Join(data, "\n")
			return e, nil
		case name == "id":
			e.id = value
		case name == "event":
			e.kind = value
		case name == "data":
			data = append(data, value)
		case name == "":
			e.comment = value
		}
	}
}

func (c *client) line() (string, error) {
	if len(c.lines) == 0 {
		text, err := c.r.ReadString('\n')
		if err != nil {
			return "", err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		c.lines = strings.Split(text, "\r")
	}
	line := c.lines[0]
	c.lines = c.lines[1:]
	return line, nil
}

func (c *client) want(t testing.TB, kind string) got {
	t.Helper()
	e, err := c.next()
	if err != nil || e.kind != kind {
		t.Fatalf("next event = %+v, %v, want %q", e, err, kind)
	}
	return e
}

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

func TestReplay(t *testing.T) {
	h := New(Config{FirstSeq: 100, RingEvents: 10})
	url := serve(t, h)
	for i := range 25 {
		h.Publish("n", i)
	}
	// 101..125 were given, 116..125 are held.
	for _, tt := range []struct {
		last   string
		first  int // 0: none is replayed
		resync bool
	}{
		{"", 0, false}, {"125", 0, false}, {"124", 125, false}, {"115", 116, false},
		{"114", 0, true}, {"100", 0, true}, {"126", 0, true}, {"0", 0, true}, {"-5", 0, true},
		{"x", 0, true}, {"18446744073709551615", 0, true}, {"99999999999999999999999", 0, true},
	} {
		c := connect(t, url, tt.last)
		hello := c.want(t, "hello")
		if want := "125"; !(tt.first > 0) && hello.id != want || tt.first > 0 && hello.id != tt.last {
			t.Errorf("Last-Event-ID %q: hello has id %s", tt.last, hello.id)
		}
		if tt.resync {
			if e := c.want(t, "resync"); e.id != "125" || e.data != "{}" {
				t.Errorf("Last-Event-ID %q: resync = %+v", tt.last, e)
			}
		}
		for n := tt.first; n > 0 && n <= 125; n++ {
			if e := c.want(t, "n"); e.id != strconv.Itoa(n) || e.data != strconv.Itoa(n-101) {
				t.Fatalf("Last-Event-ID %q: %+v, want %d", tt.last, e, n)
			}
		}
		c.resp.Body.Close()
	}
}

func TestRingBounds(t *testing.T) {
	h := New(Config{RingEvents: 1000, RingBytes: 10_000, FirstSeq: 1})
	for range 100 {
		h.Publish("n", strings.Repeat("x", 1000))
	}
	if h.ring.held > 10_000 || len(h.ring.list) == 0 {
		t.Errorf("the ring holds %d bytes in %d events", h.ring.held, len(h.ring.list))
	}
	h.Publish("n", strings.Repeat("x", 20_000))
	if _, ok := h.ring.after(h.seq - 1); ok {
		t.Error("an event larger than the ring is claimed to be held")
	}
	if m, ok := h.ring.after(h.seq); !ok || len(m) != 0 {
		t.Error("whoever has the last event is told to load anew")
	}
}

// No event is lost or doubled when tabs come back in the middle of a stream.
func TestReconnectingExactly(t *testing.T) {
	const total = 2000
	h := New(Config{FirstSeq: 1})
	url := serve(t, h)
	first := connect(t, url, "")
	last := first.want(t, "hello").id
	first.resp.Body.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for i := range total {
			h.Publish("n", i)
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})
	next, connections := 0, 0
	for next < total {
		c := connect(t, url, last)
		connections++
		c.want(t, "hello")
		for range 137 {
			e := c.want(t, "n")
			if e.data != strconv.Itoa(next) {
				t.Fatalf("got %s, want %d", e.data, next)
			}
			last = e.id
			if next++; next == total {
				break
			}
		}
		c.resp.Body.Close()
	}
	if connections < 10 {
		t.Errorf("only %d connections", connections)
	}
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
	if len(h.tabs) != 2 {
		t.Errorf("%d streams, want 2", len(h.tabs))
	}
}

// P7 and case H082: eight tabs, one of them reads nothing.
func TestStalledTab(t *testing.T) {
	const n, timeout = 3000, 2 * time.Second
	h := New(Config{WriteTimeout: timeout})
	url := serve(t, h)
	dead, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	fmt.Fprint(dead, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	counts := make(chan int, 7)
	for range 7 {
		c := connect(t, url, "")
		c.want(t, "hello")
		go func() {
			i := 0
			for ; i < n; i++ {
				if e, err := c.next(); err != nil || e.kind != "n" {
					break
				}
			}
			counts <- i
		}()
	}
	waitFor(t, "eight tabs", func() bool { return h.Listeners() == 8 })
	text := strings.Repeat("x", 4096)
	publish := func(h *Hub) time.Duration {
		start := time.Now()
		for range n {
			h.Publish("n", text)
		}
		return time.Since(start)
	}
	// What the same takes with seven tabs that all read. Who waited for the dead
	// one would wait for its whole WriteTimeout.
	healthy := New(Config{})
	healthyURL := serve(t, healthy)
	for range 7 {
		c := connect(t, healthyURL, "")
		c.want(t, "hello")
		go io.Copy(io.Discard, c.r)
	}
	normal := publish(healthy)
	if d := publish(h); d > 5*normal+timeout/2 {
		t.Errorf("publishing took %v, without the stalled tab %v", d, normal)
	}
	for range 7 {
		select {
		case got := <-counts:
			if got != n {
				t.Errorf("a live tab got %d of %d", got, n)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("a live tab is stuck")
		}
	}
	waitFor(t, "the stalled tab to be cut off", func() bool { return h.Listeners() == 7 })
}

// Case H082 by volume: 50 MiB pass, memory stays bounded, the slow one goes.
func TestSlowReaderMemory(t *testing.T) {
	h := New(Config{WriteTimeout: 300 * time.Millisecond})
	url := serve(t, h)
	dead, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	fmt.Fprint(dead, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	live := connect(t, url, "")
	live.want(t, "hello")
	waitFor(t, "two tabs", func() bool { return h.Listeners() == 2 })
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := strings.Repeat("x", 256<<10)
	for range 200 {
		sent := time.Now()
		h.Publish("n", text)
		live.want(t, "n")
		if d := time.Since(sent); d > 5*time.Second {
			t.Fatalf("the live tab lags %v", d)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 40<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	waitFor(t, "the slow tab to be cut off", func() bool { return h.Listeners() == 1 })
}

func TestHeartbeat(t *testing.T) {
	h := New(Config{Heartbeat: 30 * time.Millisecond, WriteTimeout: 50 * time.Millisecond})
	c := connect(t, serve(t, h), "")
	c.want(t, "hello")
	// The stream outlives the write timeout while nothing is written.
	for range 5 {
		if e := c.want(t, ""); e.comment == "" || e.id != "" || e.data != "" {
			t.Errorf("heartbeat = %+v, want a comment only", e)
		}
	}
	h.Publish("n", 1)
	for {
		if e, err := c.next(); err != nil {
			t.Fatal(err)
		} else if e.kind == "n" {
			break
		}
	}
}

// Case H084 in full takes two minutes.
func TestLongIdle(t *testing.T) {
	if os.Getenv("ZEROCLAW_LONG") != "1" {
		t.Skip("two minutes long; set ZEROCLAW_LONG=1 (TestHeartbeat is the short version)")
	}
	h := New(Config{})
	c := connect(t, serve(t, h), "")
	c.want(t, "hello")
	start := time.Now()
	for i := 0; time.Since(start) < 2*time.Minute; i++ {
		at := time.Now()
		c.want(t, "")
		if d := time.Since(at); d > 16*time.Second {
			t.Errorf("heartbeat %d came after %v", i, d)
		}
	}
}

// A request whose context ends, as it does when its token is revoked, gets
// nothing more: neither what comes nor what is queued for it already.
func TestRevokedTabGetsNothing(t *testing.T) {
	h := New(Config{})
	revoked, revoke := context.WithCancel(context.Background())
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(revoked, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	}))
	defer ts.Close()
	defer h.Close()
	dead, err := net.Dial("tcp", strings.TrimPrefix(ts.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	fmt.Fprint(dead, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	waitFor(t, "the tab", func() bool { return h.Listeners() == 1 })
	// More than the connection takes unread, so that much of it is queued.
	text := strings.Repeat("x", 1<<20)
	for range 12 {
		h.Publish("n", text)
	}
	time.Sleep(100 * time.Millisecond)
	revoke()
	waitFor(t, "the tab to be cut off", func() bool { return h.Listeners() == 0 })
	h.Publish("secret", "s")
	dead.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, _ := io.Copy(io.Discard, dead); n > 11<<20 {
		t.Errorf("%d MiB arrived after all", n>>20)
	}
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

func TestCloseEndsAll(t *testing.T) {
	h := New(Config{})
	url := serve(t, h)
	var tabs []*client
	for range 20 {
		c := connect(t, url, "")
		c.want(t, "hello")
		tabs = append(tabs, c)
	}
	var wg sync.WaitGroup
	for range 20 { // connections that race with the end
		wg.Go(func() {
			if resp, err := http.Get(url); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	start := time.Now()
	h.Close()
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("Close took %v", d)
	}
	wg.Wait()
	for _, c := range tabs {
		if e, err := c.next(); err == nil {
			t.Errorf("a tab got %+v after the end", e)
		}
	}
	if resp, err := http.Get(url); err != nil || resp.StatusCode != 503 {
		t.Errorf("GET after the end = %v, %v, want 503", resp, err)
	} else {
		resp.Body.Close()
	}
	h.Publish("n", 1)
	h.Close()
}

func TestCloseDoesNotWaitForTheStalled(t *testing.T) {
	h := New(Config{WriteTimeout: time.Minute})
	url := serve(t, h)
	dead, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	fmt.Fprint(dead, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	waitFor(t, "the tab", func() bool { return h.Listeners() == 1 })
	text := strings.Repeat("x", 1<<20)
	for range 12 {
		h.Publish("n", text)
	}
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	h.Close()
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("Close took %v", d)
	}
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// FuzzEncoder: whatever a payload holds, a client reads exactly one event
// whose JSON is the payload.
func FuzzEncoder(f *testing.F) {
	f.Add("x\n\nevent: approve\n", "a\rb")
	f.Add("", ":")
	h := New(Config{})
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
