package events

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestReplay(t *testing.T) {
	h := New(Config{FirstSeq: 100, RingEvents: 10})
	url := serve(t, h)
	// Events are kept for tabs that have been there.
	seen := connect(t, url, "")
	seen.want(t, "hello")
	defer seen.resp.Body.Close()
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
	h.left = time.Now()
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

// Without a tab that could come back nothing is encoded or kept, and whoever
// comes with the number of an event is told to load anew.
func TestNobodyThere(t *testing.T) {
	h := New(Config{FirstSeq: 100})
	url := serve(t, h)
	allocs := testing.AllocsPerRun(100, func() { h.Publish("n", struct{ A string }{"x"}) })
	if allocs > 1 || len(h.ring.list) > 0 { // one for the payload itself
		t.Errorf("an event that nobody hears costs %v allocations and the ring holds %d", allocs, len(h.ring.list))
	}
	at := strconv.FormatUint(h.Seq()-5, 10)
	c := connect(t, url, at)
	defer c.resp.Body.Close()
	if c.want(t, "hello"); c.want(t, "resync").data != "{}" {
		t.Error("a tab that missed events is not told")
	}
	h.Publish("n", 1)
	if e := c.want(t, "n"); e.id != strconv.FormatUint(h.Seq(), 10) {
		t.Errorf("the next event is %+v", e)
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
