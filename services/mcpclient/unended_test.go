package mcpclient

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

// repeated is text for ever.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m := copy(p[n:], r.text[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.text)
	}
	return n, nil
}

func TestEventWithoutEnd(t *testing.T) {
	t.Parallel()
	if discards(100<<20) != 400<<20 || discards(10) != minDiscarded {
		t.Errorf("%d bytes are thrown away of an event with a limit of 100 MiB, %d of one with a small one", discards(100<<20), discards(10))
	}
	for _, tt := range []struct {
		name string
		from io.Reader
		long bool // it is told of as too long before
		most int64
	}{
		{"data", io.MultiReader(strings.NewReader("data: "), &repeated{text: "x"}), true, 0},
		{"lines of data", &repeated{text: "data: " + strings.Repeat("x", 1000) + "\n"}, true, 0},
		{"short lines of data", &repeated{text: "data: x\n"}, true, 1 << 20},
		{"lines without data", &repeated{text: "data\n"}, true, 1 << 20},
		{"lines with nothing", &repeated{text: "data:\r\n"}, true, 1 << 20},
		{"comment", io.MultiReader(strings.NewReader(":"), &repeated{text: "x"}), false, 0},
		{"comments", &repeated{text: ":\r"}, false, 1 << 20},
		{"another field", io.MultiReader(strings.NewReader("event: "), &repeated{text: "x"}), false, 0},
		{"short fields", &repeated{text: "d\n"}, false, 1 << 20},
	} {
		r := &eventReader{from: tt.from, limit: 10, most: tt.most}
		_, err := r.next()
		var long *oversized
		if errors.As(err, &long) != tt.long {
			t.Errorf("%s is first %v", tt.name, err)
		}
		if tt.long {
			_, err = r.next()
		}
		most := cmp.Or(tt.most, minDiscarded)
		var never *endless
		if !errors.As(err, &never) || never.discarded <= most || never.discarded > most+(64<<10) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	// What has an end is only left out, and comments between events add up to
	// nothing.
	whole := strings.Repeat(":"+strings.Repeat("x", 1<<20)+"\n\n", 80)
	got, err := readEvents(strings.NewReader(whole+"data: "+strings.Repeat("x", 60<<20)+"\n\ndata: b\n\n"), 10)
	if !errors.Is(err, io.EOF) || strings.Join(got, ";") != "too long;|b" {
		t.Errorf("%.100q, %v", got, err)
	}
}

// pour sends one event for ever, and tells when nobody takes it any more.
func pour(w http.ResponseWriter, begin string, over chan<- struct{}) {
	defer close(over)
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	_, err := io.WriteString(w, begin)
	for err == nil {
		_, err = w.Write(chunk)
	}
}

// An event without end on a stream that belongs to no call ends the connection,
// with a reason that a new one may help.
func TestStreamWithoutEnd(t *testing.T) {
	t.Parallel()
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		over := make(chan struct{})
		s := newStub(t, &stub{get: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			flush(w)
			pour(w, "data: ", over)
		}})
		_, r := reach(t, services.TransportHTTP, s.URL, nil)
		dropped(t, r, over)
	})
	t.Run("notification of a call", func(t *testing.T) {
		t.Parallel()
		over := make(chan struct{})
		s := newStub(t, &stub{tools: map[string]func(stubCall){"pour": func(c stubCall) {
			c.events()
			pour(c.w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`, over)
		}}})
		p, r := reach(t, services.TransportHTTP, s.URL, nil)
		_, err := call(t, p, "pour", `{}`)
		holds(t, err, "event without end")
		dropped(t, r, over)
	})
	t.Run("sse", func(t *testing.T) {
		t.Parallel()
		over := make(chan struct{})
		s := newSSEStub(t, &sseStub{pour: over})
		_, r := reach(t, services.TransportSSE, s.URL, nil)
		s.mu.Lock()
		close(s.cut)
		s.mu.Unlock()
		dropped(t, r, over)
	})
}

func dropped(t *testing.T, r *rig, over <-chan struct{}) {
	t.Helper()
	select {
	case err := <-r.closed:
		holds(t, err, "event without end", "its connection was closed")
		var again interface{ Restartable() bool }
		if !errors.As(err, &again) || !again.Restartable() {
			t.Errorf("%v is not tried again", err)
		}
	case <-time.After(slowdown * 10 * time.Second):
		t.Fatal("the connection stays")
	}
	select {
	case <-over:
	case <-time.After(slowdown * time.Second):
		t.Error("the server goes on sending")
	}
}

// A process that prints a line without end is ended.
func TestLineWithoutEndEndsTheConnection(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	_, err := call(t, p, "unended", `{}`)
	holds(t, err, "line without end")
	select {
	case err := <-r.closed:
		holds(t, err, "line without end", "connection was closed")
		var again interface{ Restartable() bool }
		if !errors.As(err, &again) || !again.Restartable() {
			t.Errorf("%v is not tried again", err)
		}
	case <-time.After(slowdown * time.Second):
		t.Error("no reason was reported")
	}
}
