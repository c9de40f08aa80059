package events

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// P7 and case H082: eight tabs, one of them reads nothing.
func TestStalledTab(t *testing.T) {
	const n, timeout = 3000, time.Minute
	h := New(Config{WriteTimeout: timeout})
	url := serve(t, h)
	unread(t, url)
	counts := make(chan int, 7)
	for range 7 {
		c := connect(t, url, "")
		c.want(t, "hello")
		go func() {
			i := 0
			for i < n {
				e, err := c.next()
				if err != nil {
					break
				}
				if e.kind == "n" {
					i++
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
	healthy := New(Config{WriteTimeout: timeout})
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
		case <-time.After(timeout / 2):
			t.Fatal("a live tab is stuck")
		}
	}
}

// Case H082 by volume: 50 MiB pass, memory stays bounded, the slow one goes.
func TestSlowReaderMemory(t *testing.T) {
	h := New(Config{WriteTimeout: 2 * time.Second})
	url := serve(t, h)
	unread(t, url)
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
		if d := time.Since(sent); d > 20*time.Second {
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

// unread opens a stream that is asked for and then not read.
func unread(t *testing.T, url string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	return c
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
	dead := unread(t, ts.URL)
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

func TestCloseDoesNotWaitForTheStalled(t *testing.T) {
	h := New(Config{WriteTimeout: time.Minute})
	url := serve(t, h)
	unread(t, url)
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
