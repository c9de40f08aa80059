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

	"zeroclaw/localserver"
)

// How long the bridge waits for what ends.
const (
	endTime    = 2 * time.Second // requests that run when the client leaves
	cancelTime = 5 * time.Second // a request that was cancelled
)

const (
	maxRunning  = 1024 // requests at once
	maxAttempts = 4    // of one request
)

// stdioBridge carries the messages of one MCP client, which has standard input
// and output, to the MCP endpoint of the running companion and back.
type stdioBridge struct {
	in   io.Reader
	out  *lineWriter
	log  io.Writer
	link *link

	work    sync.WaitGroup // messages of the client under way
	streams sync.WaitGroup // what the companion says by itself
	stream  sync.Once
	leaving chan struct{} // closed when the client has left

	mu      sync.Mutex
	running map[string]*flight // requests of the client by id
	asked   map[string]*target // requests to the client by id, with the session that they belong to
	lists   []string           // notifications for what may differ after a restart
}

// flight is one request that runs.
type flight struct {
	cancel    context.CancelFunc
	modern    bool          // of a protocol without sessions
	endless   bool          // it lasts until somebody ends it
	sent      chan struct{} // closed when it was written, or has ended
	sentOnce  sync.Once
	ended     chan struct{} // closed when it has
	refused   bool          // its answer is an error
	cancelled bool          // the client no longer waits; under the bridge's mutex
}

// endedWithin waits for the end of a request.
func (f *flight) endedWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-f.ended:
		return true
	case <-timer.C:
		return false
	}
}

func (f *flight) wasSent() { f.sentOnce.Do(func() { close(f.sent) }) }

// newBridge connects a client. find finds the running companion, and with start
// begins one where none runs; path is that of the endpoint, with its query.
func newBridge(in io.Reader, out, log io.Writer, path string, find func(ctx context.Context, start bool) (localserver.Instance, error)) *stdioBridge {
	b := &stdioBridge{
		in: in, out: &lineWriter{w: out, failed: make(chan struct{})}, log: log, link: newLink(path, find),
		leaving: make(chan struct{}), running: map[string]*flight{}, asked: map[string]*target{},
	}
	b.link.renewed = b.renewed
	return b
}

// serve works until the client leaves or ctx ends; both are no errors. It
// returns when nothing of it is left but the reading of standard input, which
// cannot be interrupted.
func (b *stdioBridge) serve(ctx context.Context) error {
	if _, err := b.link.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	lines := readLines(late, b.in)
	for open := true; open; {
		select {
		case line, ok := <-lines:
			if open = ok; ok {
				b.take(ctx, late, line)
			}
		case <-ctx.Done():
			open = false
		case <-b.out.failed:
			open = false
		}
	}
	b.leave()
	done := make(chan struct{})
	go func() {
		b.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-b.out.failed:
	}
	cancel()
	<-done
	b.streams.Wait()
	t := b.link.current()
	t.end(context.WithoutCancel(ctx))
	t.client.CloseIdleConnections()
	return nil
}

// leave ends what would go on for as long as the client listens, and keeps
// everything else from starting a companion.
func (b *stdioBridge) leave() {
	close(b.leaving)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.running {
		if f.endless {
			f.cancelled = true
			f.cancel()
		}
	}
}

// line is one line of the client.
type line struct {
	raw []byte
	err error // of one that was skipped
}

// readLines reads the lines of a client to their end. A read cannot be
// interrupted: the goroutine may outlast ctx by what is left of the process.
func readLines(ctx context.Context, in io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			raw, err := nextLine(r, maxLine)
			if err != nil && !errors.Is(err, errTooLong) {
				return
			}
			if err == nil && len(bytes.TrimSpace(raw)) == 0 {
				continue
			}
			select {
			case lines <- line{raw, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// take begins what one line of the client asks for. now ends with the client's
// wish to be served, late with the bridge.
func (b *stdioBridge) take(now, late context.Context, l line) {
	if l.err != nil {
		b.out.send(refused(noID, &rpcError{Code: codeInvalid, Message: "zeroclaw: read a message: " + l.err.Error()}))
		return
	}
	m, err := newMessage(l.raw)
	if err != nil {
		b.out.send(refused(noID, &rpcError{Code: codeParse, Message: "zeroclaw: read a message: " + err.Error()}))
		return
	}
	switch {
	// What follows the beginning of a session belongs to it, also where a client
	// does not wait for the answer.
	case m.method == "initialize" && m.request():
		b.begin(now, m)
	case m.method == "notifications/initialized":
		b.ready(now, late, m)
	case m.method == "notifications/cancelled":
		b.cancelled(late, m)
	case m.request():
		b.start(late, m)
	default:
		b.work.Go(func() { b.tell(late, m) })
	}
}

// begin opens the client's session.
func (b *stdioBridge) begin(ctx context.Context, m message) {
	old := b.link.current()
	for attempt := 1; ; attempt++ {
		t, err := b.link.connect(ctx)
		if err != nil {
			b.out.send(refused(m.id, err))
			return
		}
		next, reply, err := t.with("", "").initialize(ctx, m, func(m message) { b.out.send(m.raw) })
		if again, ok := b.again(err, attempt); ok {
			if _, err = b.link.renew(ctx, t, again, true); err == nil {
				continue
			}
		}
		if err != nil {
			b.out.send(refused(m.id, err))
			return
		}
		if next.version != "" {
			b.link.began(next, m)
			b.mu.Lock()
			b.lists = changing(reply.raw)
			b.mu.Unlock()
			if old != nil && old.session != "" {
				old.end(ctx)
			}
		}
		b.out.send(reply.raw)
		return
	}
}

// changing are the notifications with which a companion that answered so says
// that its lists have changed.
func changing(reply []byte) []string {
	var r struct {
		Result struct {
			Capabilities map[string]json.RawMessage `json:"capabilities"`
		} `json:"result"`
	}
	if json.Unmarshal(reply, &r) != nil {
		return nil
	}
	var out []string
	for _, kind := range []string{"tools", "prompts", "resources"} {
		var c struct {
			ListChanged bool `json:"listChanged"`
		}
		if json.Unmarshal(r.Result.Capabilities[kind], &c) == nil && c.ListChanged {
			out = append(out, "notifications/"+kind+"/list_changed")
		}
	}
	return out
}

// again reports whether a request that failed can be tried once more with
// another session.
func (b *stdioBridge) again(err error, attempt int) (lost, bool) {
	var l lost
	if !errors.As(err, &l) || attempt >= maxAttempts {
		return l, false
	}
	select {
	case <-b.leaving:
		return l, false
	default:
		return l, true
	}
}

// ready opens the stream of what the companion says by itself.
func (b *stdioBridge) ready(now, late context.Context, m message) {
	b.link.ready(m)
	b.tell(now, m)
	b.stream.Do(func() { b.streams.Go(func() { b.listen(late) }) })
}

// tell posts what has no answer. A response goes to nobody but the session
// that asked.
func (b *stdioBridge) tell(ctx context.Context, m message) {
	t := b.link.current()
	if m.id != nil {
		b.mu.Lock()
		t = b.asked[string(m.id)]
		delete(b.asked, string(m.id))
		b.mu.Unlock()
		if t == nil || t != b.link.current() {
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	err := t.exchange(ctx, m, func() {}, nothing)
	l, ok := b.again(err, 1)
	if !ok || m.id != nil {
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintf(b.log, "zeroclaw: send %s: %s\n", oneLine(m.method), oneLine(err.Error()))
		}
		return
	}
	// A new session begins with what was told before; whatever else there was to
	// tell was about the old one.
	_, _ = b.link.renew(ctx, t, l, false)
}

// cancelled takes back a request.
func (b *stdioBridge) cancelled(ctx context.Context, m message) {
	b.mu.Lock()
	f := b.running[string(m.cancels)]
	if f != nil {
		f.cancelled = true
	}
	b.mu.Unlock()
	switch {
	case f == nil:
		b.work.Go(func() { b.tell(ctx, m) })
	case f.modern: // the end of the request is how it is told
		f.cancel()
	default:
		b.work.Go(func() {
			select {
			case <-f.sent: // before, nobody would know what is meant
			case <-ctx.Done():
			}
			// The two go on connections of their own, so that the request may come
			// second; then nobody knew what was meant, and hears it once more.
			for _, d := range []time.Duration{cancelTime / 50, cancelTime / 5, cancelTime} {
				b.tell(ctx, m)
				if f.endedWithin(d) {
					return
				}
			}
			f.cancel()
		})
	}
}

// renewed says what a client cannot know of a session that began without it.
func (b *stdioBridge) renewed(old *target) {
	b.mu.Lock()
	var open []string
	for id, t := range b.asked {
		if t == old {
			open = append(open, id)
			delete(b.asked, id)
		}
	}
	lists := b.lists
	b.mu.Unlock()
	fmt.Fprintln(b.log, "zeroclaw: the companion knows the session no more; it goes on in a new one")
	for _, id := range open {
		b.out.send(notification("notifications/cancelled", map[string]any{"requestId": json.RawMessage(id), "reason": "the companion was started anew"}))
	}
	for _, method := range lists {
		b.out.send(notification(method, nil))
	}
}
