package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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
// returns when nothing of it is left but the reading of standard input and a
// write that nobody takes, which cannot be interrupted.
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
	done, all := make(chan struct{}), make(chan struct{})
	go func() {
		b.work.Wait()
		close(done)
		b.streams.Wait()
		close(all)
	}()
	b.within(done)
	cancel()
	b.within(all)
	t := b.link.current()
	t.end(context.WithoutCancel(ctx))
	t.client.CloseIdleConnections()
	return nil
}

// within waits for an end, not for long and not for a client that takes nothing
// any more.
func (b *stdioBridge) within(done <-chan struct{}) {
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-b.out.failed:
	}
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
