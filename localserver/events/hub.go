package events

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/r3labs/sse/v2"
)

// Config of a Hub. The zero value is usable.
type Config struct {
	// Hello returns the payload of the first event of each connection; seq is
	// the number of the last event published. nil sends {"seq":N}.
	Hello func(seq uint64) any
	// OnListeners is called with the number of connected tabs each time it
	// changes, one call at a time and in order. It may publish; it must not
	// close the hub.
	OnListeners func(n int)
	// FirstSeq is the number before the first event's. 0 takes it from the
	// clock, so that a page that outlives a restart is never served events of
	// the new run as if they followed those of the old one.
	FirstSeq uint64

	RingEvents int // events kept for replay; 0 is 2048
	RingBytes  int // their payload bytes; 0 is 8 MiB
	Queue      int // events that may wait for one tab; 0 is 4096
	QueueBytes int // bytes that may wait for one tab (shared among tabs); 0 is 16 MiB

	Heartbeat    time.Duration // between comment lines; 0 is 15 s
	WriteTimeout time.Duration // for a tab to take what is written; 0 is 10 s

	Log *slog.Logger // events that cannot be sent; nil is slog.Default()
}

// Hub numbers events, keeps the last ones and sends them to every connection.
// Make one with New, serve it as GET /api/events, end it with Close.
type Hub struct {
	c   Config
	sse *sse.Server

	mu     sync.Mutex
	seq    uint64
	ring   ring
	tabs   map[string]*tab
	left   time.Time // when the last tab left; zero: none was ever there
	closed bool
	open   sync.WaitGroup // connections being served

	listenersMu sync.Mutex // orders OnListeners
}

// New returns a Hub that nobody listens to yet. It starts no goroutine.
func New(c Config) *Hub {
	or := func(p *int, def int) {
		if *p <= 0 {
			*p = def
		}
	}
	or(&c.RingEvents, 2048)
	or(&c.RingBytes, 8<<20)
	or(&c.Queue, 4096)
	or(&c.QueueBytes, 16<<20)
	if c.Heartbeat <= 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 10 * time.Second
	}
	if c.FirstSeq == 0 {
		// A millionth of a second each leaves room below 2^53, where
		// JavaScript numbers end.
		c.FirstSeq = uint64(time.Now().Unix()) * 1_000_000
	}
	if c.Hello == nil {
		c.Hello = func(seq uint64) any { return map[string]uint64{"seq": seq} }
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	h := &Hub{c: c, seq: c.FirstSeq, tabs: map[string]*tab{}, ring: ring{events: c.RingEvents, bytes: c.RingBytes, next: c.FirstSeq + 1}}
	h.sse = sse.NewWithCallback(h.subscribed, nil)
	h.sse.AutoReplay = false
	h.sse.SplitData = true
	// A private stream must take a whole replay and a full queue.
	h.sse.BufferSize = c.Queue + c.RingEvents + 8
	return h
}

var kinds = regexp.MustCompile(`^[a-z][a-z0-9_.]*$`)

// keepFor is how long events are kept for a tab that has left, in case it comes
// back.
const keepFor = 2 * time.Minute

// Publish sends payload, marshalled as JSON once, to every tab as an event of
// that kind. It never waits for a reader. What cannot be marshalled is logged
// and not sent. With no tab there, nor about to come back, it costs nothing.
func (h *Hub) Publish(kind string, payload any) {
	if h.unheard() {
		return
	}
	data, err := json.Marshal(payload)
	if err != nil || !kinds.MatchString(kind) {
		h.c.Log.Error("an event was not sent", "kind", kind, "err", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.seq++
	e := event(h.seq, kind, data)
	h.ring.add(e)
	for _, t := range h.tabs {
		if t.live {
			t.send(e)
		}
	}
}

// unheard counts an event that nobody will ever ask for, and reports whether it
// is one.
func (h *Hub) unheard() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tabs) > 0 || !h.left.IsZero() && time.Since(h.left) < keepFor {
		return false
	}
	h.seq++
	h.ring.skip()
	return true
}

// Seq is the number of the last event.
func (h *Hub) Seq() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seq
}

// Listeners is the number of connected tabs.
func (h *Hub) Listeners() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tabs)
}

// Close ends every connection and waits until all are gone. Later connections
// are refused and later events dropped. Call it before http.Server.Shutdown,
// which waits for open streams.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	for _, t := range h.tabs {
		t.gone = true
		t.cancel()
	}
	h.mu.Unlock()
	// Who stands still in a write does not notice; it has a second.
	stuck := time.AfterFunc(time.Second, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, t := range h.tabs {
			t.cut()
		}
	})
	defer stuck.Stop()
	h.open.Wait()
}

// event builds what r3labs/sse sends. It is shared by the ring and all tabs
// and never changed.
func event(seq uint64, kind string, data []byte) *sse.Event {
	return &sse.Event{ID: strconv.AppendUint(nil, seq, 10), Event: []byte(kind), Data: data}
}

// subscribed runs when the library is ready to deliver to a private stream:
// whatever was published to it before would be lost. It sends hello, then what
// the tab has missed, and lets events through from then on, all in one step.
func (h *Hub) subscribed(stream string, _ *sse.Subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tabs[stream]
	if t == nil {
		return
	}
	defer close(t.attached)
	missed, ok := h.ring.after(t.last)
	if !t.resumes {
		missed, ok = nil, true
	}
	at := h.seq
	if len(missed) > 0 {
		at = t.last
	}
	hello, err := json.Marshal(h.c.Hello(h.seq))
	if err != nil {
		h.c.Log.Error("an event was not sent", "kind", "hello", "err", err)
		hello = fmt.Appendf(nil, `{"seq":%d}`, h.seq)
	}
	// The number of hello is that of the last event the tab has, so that a
	// connection that drops during the replay resumes at the right place.
	t.send(event(at, "hello", hello))
	if !ok {
		t.send(event(h.seq, "resync", []byte("{}")))
	}
	for _, e := range missed {
		t.send(e)
	}
	t.live = !t.gone
}
