package events

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/r3labs/sse/v2"
)

// tab is one connection.
type tab struct {
	h        *Hub
	stream   string        // private, random
	last     uint64        // Last-Event-ID
	resumes  bool          // whether there was one
	live     bool          // hello is sent, events may follow; guarded by Hub.mu
	gone     bool          // cut off or leaving; guarded by Hub.mu
	beats    *time.Timer   // guarded by Hub.mu
	attached chan struct{} // closed when it became live, or was cut before
	cancel   context.CancelFunc
	w        *writer

	// What was queued and not yet handed to the connection.
	events, bytes atomic.Int64
}

// ServeHTTP is GET /api/events for one tab. Whoever has the header of the
// answer misses nothing that is published later. It returns when the tab leaves,
// is cut off, the request's context ends (its token was revoked), or the hub is
// closed. The request's stream parameter and method of
// replay are ours: a client chooses neither.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t := &tab{h: h, stream: rand.Text(), cancel: cancel, attached: make(chan struct{})}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		t.last, t.resumes = lastID(id), true
	}
	t.w = &writer{t: t, inner: w, rc: http.NewResponseController(w)}

	if !h.enter(t) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"error":{"code":"ending","message":"the companion is ending; start it again"}}`)
		return
	}
	defer h.open.Done()
	// Whoever may not listen any more, or has left, gets nothing of what is
	// queued, not even when a write to it is stuck.
	defer context.AfterFunc(r.Context(), func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		t.cut()
	})()
	own := r.Clone(ctx)
	own.Header.Del("Last-Event-ID")
	own.URL = &url.URL{Path: r.URL.Path, RawQuery: "stream=" + t.stream}
	h.sse.ServeHTTP(t.w, own)

	// The library has taken the subscriber out; only now may its stream go.
	<-t.attached
	h.leave(t)
	t.w.finish()
}

func (h *Hub) enter(t *tab) bool {
	h.listenersMu.Lock()
	defer h.listenersMu.Unlock()
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return false
	}
	h.open.Add(1)
	h.sse.CreateStream(t.stream)
	h.tabs[t.stream] = t
	t.beats = time.AfterFunc(h.c.Heartbeat, t.beat)
	n := len(h.tabs)
	h.mu.Unlock()
	h.tell(n)
	return true
}

func (h *Hub) leave(t *tab) {
	h.listenersMu.Lock()
	defer h.listenersMu.Unlock()
	h.mu.Lock()
	delete(h.tabs, t.stream)
	h.left = time.Now()
	t.gone = true
	t.beats.Stop()
	n := len(h.tabs)
	h.mu.Unlock()
	h.sse.RemoveStream(t.stream)
	h.tell(n)
}

func (h *Hub) tell(n int) {
	if h.c.OnListeners != nil {
		h.c.OnListeners(n)
	}
}

// send queues e, or cuts the tab off when its queue is full. It never waits.
// Hub.mu is held.
func (t *tab) send(e *sse.Event) {
	if t.gone {
		return
	}
	events := t.events.Add(1)
	bytes := t.bytes.Add(int64(frame(e)))
	// A replay may be waiting on top of a full queue.
	c := t.h.c
	if int(events) > c.Queue+c.RingEvents || int(bytes) > c.QueueBytes+c.RingBytes || !t.h.sse.TryPublish(t.stream, e) {
		t.cut()
	}
}

// beat queues a comment line, which keeps proxies and browsers from taking
// the stream for dead.
func (t *tab) beat() {
	t.h.mu.Lock()
	defer t.h.mu.Unlock()
	if t.live {
		t.send(&sse.Event{Comment: []byte("beat")})
	}
	if !t.gone {
		t.beats.Reset(t.h.c.Heartbeat)
	}
}

// cut ends the connection, also when a write to it is stuck. Hub.mu is held.
func (t *tab) cut() {
	t.gone, t.live = true, false
	t.cancel()
	t.w.abort()
}

// frame is the number of bytes that the library writes for e.
func frame(e *sse.Event) int {
	if len(e.Comment) > 0 {
		return len(": ") + len(e.Comment) + 2
	}
	return len("id: \ndata: \nevent: \n\n") + len(e.ID) + len(e.Data) + len(e.Event)
}

// writer stands between the library and the connection: it puts what belongs
// to one event, and events that are queued already, into one write with a
// deadline, and ends the tab at the first error, which the library ignores.
type writer struct {
	t     *tab
	inner http.ResponseWriter
	rc    *http.ResponseController
	buf   []byte
	set   time.Time // when the write deadline was last set

	mu   sync.Mutex // guards rc against a handler that has returned
	dead bool
}

const coalesce = 64 << 10

func (w *writer) Header() http.Header { return w.inner.Header() }

// WriteHeader waits until the tab is attached, so that whoever has the header
// misses nothing that is published later. It does not wait on the network: the
// library reports every subscriber, also one that leaves at once.
func (w *writer) WriteHeader(status int) {
	<-w.t.attached
	// The library has set its own.
	w.Header().Set("Cache-Control", "no-store")
	w.inner.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// Flush is called by the library after the header and after each event.
func (w *writer) Flush() {
	if len(w.buf) == 0 {
		w.push()
		return
	}
	left := w.t.events.Add(-1)
	if left > 0 && len(w.buf) < coalesce {
		return
	}
	w.push()
}

func (w *writer) push() {
	n := len(w.buf)
	buf := w.buf
	if w.buf = w.buf[:0]; cap(w.buf) > 2*coalesce {
		w.buf = nil
	}
	w.mu.Lock()
	if w.dead {
		w.mu.Unlock()
		return
	}
	if now := time.Now(); now.Sub(w.set) > w.t.h.c.WriteTimeout/4 {
		w.rc.SetWriteDeadline(now.Add(w.t.h.c.WriteTimeout))
		w.set = now
	}
	w.mu.Unlock()
	_, err := w.inner.Write(buf)
	if err == nil {
		err = w.rc.Flush()
	}
	w.t.bytes.Add(int64(-n))
	if err != nil {
		w.t.cancel()
		w.abort()
	}
}

// abort makes a write that is under way fail now and later ones not happen.
func (w *writer) abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dead {
		w.dead = true
		w.rc.SetWriteDeadline(time.Unix(1, 0))
	}
}

// finish ends the use of the connection. One that was cut off is closed, so
// that its reader sees a broken stream and comes back.
func (w *writer) finish() {
	w.mu.Lock()
	dead := w.dead
	w.dead = true
	w.mu.Unlock()
	if dead {
		panic(http.ErrAbortHandler)
	}
}
