package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"zeroclaw/tools/jsonparts"
)

// start begins a request of the client.
func (b *stdioBridge) start(late context.Context, m message) {
	ctx, cancel := context.WithCancel(late)
	f := &flight{cancel: cancel, modern: m.version != "", endless: m.method == "subscriptions/listen", sent: make(chan struct{}), ended: make(chan struct{})}
	b.mu.Lock()
	full, twice := len(b.running) >= maxRunning, b.running[string(m.id)] != nil && m.method != "batch"
	if !full && !twice {
		b.running[string(m.id)] = f
	}
	b.mu.Unlock()
	if full || twice {
		cancel()
		why := "a request with this id runs already"
		if full {
			why = fmt.Sprintf("%d requests run already", maxRunning)
		}
		b.out.send(refused(m.id, &rpcError{Code: codeInvalid, Message: "zeroclaw: " + why}))
		return
	}
	b.work.Go(func() {
		defer cancel()
		err := b.carry(ctx, m, f)
		b.mu.Lock()
		delete(b.running, string(m.id))
		silent := f.cancelled || late.Err() != nil
		b.mu.Unlock()
		if err != nil && !silent {
			b.out.send(refused(m.id, err))
		}
		f.wasSent()
		close(f.ended)
	})
}

// carry posts a request and passes its answer on. It sends it again only where
// the companion cannot have acted on it, or where that would do no harm.
func (b *stdioBridge) carry(ctx context.Context, m message, f *flight) error {
	for attempt := 1; ; attempt++ {
		t, err := b.link.connect(ctx)
		if err != nil {
			return err
		}
		answered := false
		begun := time.Now()
		err = t.exchange(ctx, m, f.wasSent, func(reply message) {
			if reply.method == "" && bytes.Equal(reply.id, m.id) || m.method == "batch" {
				answered = true
				if isError(reply.raw) {
					f.refused = true
				}
			}
			b.pass(t, reply)
		})
		switch {
		case err == nil && !answered:
			return errors.New("the companion gave no answer to this request")
		case err == nil:
			if !f.refused {
				b.link.keep(m)
			}
			return nil
		case answered:
			return nil
		}
		if m.method == "subscriptions/listen" && time.Since(begun) > listenFresh {
			attempt = 1
		}
		l, ok := b.again(err, attempt)
		if !ok {
			return err
		}
		if l.reached && !m.read() {
			return &rpcError{
				Code: codeServer, Data: json.RawMessage(`{"code":"outcome_unknown"}`),
				Message: fmt.Sprintf("zeroclaw: the connection to the companion was lost (%v); the outcome of this request is unknown, it was not replayed", err),
			}
		}
		if _, err := b.link.renew(ctx, t, l, true); err != nil {
			return err
		}
	}
}

// listenFresh is how long a subscription must have lasted for its loss to be
// news.
const listenFresh = 10 * time.Second

// isError reports whether a response is an error.
func isError(raw []byte) (yes bool) {
	_ = jsonparts.Split(raw, func(name string, _ json.RawMessage) { yes = yes || name == "error" })
	return yes
}

// pass hands a message of the companion to the client.
func (b *stdioBridge) pass(t *target, m message) {
	if m.request() {
		b.mu.Lock()
		b.asked[string(m.id)] = t
		b.mu.Unlock()
	}
	b.out.send(m.raw)
}

// How often the bridge looks for what may come back.
const (
	streamEvery = time.Second
	noStreamFor = time.Minute // where a companion offers none
)

// listen passes on what the companion says by itself, as long as the bridge
// works. It starts no companion: one that a person has ended stays away until
// the client asks for something.
func (b *stdioBridge) listen(ctx context.Context) {
	last := ""
	for t := b.link.current(); ctx.Err() == nil; {
		err := b.hear(ctx, t, &last)
		var l lost
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			t.wait(ctx, streamEvery)
		case errors.As(err, &l):
			if _, err := b.link.renew(ctx, t, l, false); err != nil || !l.session {
				t.wait(ctx, streamEvery)
			}
		default:
			t.wait(ctx, noStreamFor)
		}
		if now := b.link.current(); now != t {
			t, last = now, ""
		}
	}
}

// hear reads one stream of a session to its end. last is the id of its last
// event, with which it is taken up again.
func (b *stdioBridge) hear(ctx context.Context, t *target, last *string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with this function
		select {
		case <-t.gone:
			cancel()
		case <-stop:
		}
	}()
	answer, err := t.stream(ctx, *last)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	events := &eventReader{in: bufio.NewReaderSize(answer.Body, 64<<10), last: *last}
	err = t.events(events, func(m message) bool {
		*last = events.last
		b.pass(t, m)
		return false
	})
	*last = events.last
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, errTooLong): // ended in order
		return nil
	}
	return lost{err: err, reached: true}
}

// lineWriter writes one message a line, for a client that reads them.
type lineWriter struct {
	mu     sync.Mutex
	w      io.Writer
	broken bool
	failed chan struct{} // closed when the client reads no more
}

// smallLine is up to what size a line is worth a copy, to be written at once.
const smallLine = 64 << 10

func (w *lineWriter) send(raw []byte) {
	raw = bytes.TrimSpace(raw)
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		var b bytes.Buffer
		if json.Compact(&b, raw) != nil {
			return // it is no JSON, and nobody could read it
		}
		raw = b.Bytes()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return
	}
	var err error
	if len(raw) <= smallLine {
		_, err = w.w.Write(append(raw[:len(raw):len(raw)], '\n'))
	} else if _, err = w.w.Write(raw); err == nil {
		_, err = w.w.Write([]byte{'\n'})
	}
	if err != nil {
		w.broken = true
		close(w.failed)
	}
}
