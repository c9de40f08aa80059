package mcpclient

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// outboxLimit bounds what waits for a server that does not read.
	outboxLimit = 64 << 20
	// outboxChunk is written at a time; each must be taken within
	// outboxStall.
	outboxChunk = 64 << 10
	outboxStall = 30 * time.Second
)

// outbox is a server's standard input. Write never waits for the server: one
// goroutine does, and declares the connection dead when the server takes
// nothing for a while. (A half-written line cannot be taken back.)
type outbox struct {
	to    io.WriteCloser
	stall time.Duration
	fail  func(error) // called when the server stopped reading, or cannot any more

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	closed bool
	wake   chan struct{}
	done   chan struct{}
}

func newOutbox(to io.WriteCloser, stall time.Duration, fail func(error)) *outbox {
	o := &outbox{to: to, stall: stall, fail: fail, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// Write takes one line.
func (o *outbox) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return 0, io.ErrClosedPipe
	case o.bytes+len(p) > outboxLimit:
		return 0, fmt.Errorf("the server does not read its input: %d bytes are waiting already", o.bytes)
	}
	o.queue = append(o.queue, append([]byte(nil), p...))
	o.bytes += len(p)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

// Close closes the server's input at once; what still waits is lost. It returns
// when the goroutine has ended, or at the latest when the process that does not
// read is gone.
func (o *outbox) Close() error {
	o.mu.Lock()
	was := o.closed
	o.closed = true
	o.mu.Unlock()
	if was {
		return nil
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return o.to.Close()
}

func (o *outbox) run() {
	defer close(o.done)
	for range o.wake {
		for {
			o.mu.Lock()
			if o.closed {
				o.mu.Unlock()
				return
			}
			if len(o.queue) == 0 {
				o.queue = nil
				o.mu.Unlock()
				break
			}
			line := o.queue[0]
			o.queue = o.queue[1:]
			o.mu.Unlock()
			if !o.write(line) {
				return
			}
			o.mu.Lock()
			o.bytes -= len(line)
			o.mu.Unlock()
		}
	}
}

func (o *outbox) write(line []byte) bool {
	for len(line) > 0 {
		part := line[:min(len(line), outboxChunk)]
		watch := time.AfterFunc(o.stall, func() {
			o.fail(&lostError{message: fmt.Sprintf("the server has not read its input for %s", o.stall)})
		})
		_, err := o.to.Write(part)
		watch.Stop()
		if err != nil {
			o.fail(err)
			return false
		}
		line = line[len(part):]
	}
	return true
}

// lostError says why a connection is over although its process may live.
type lostError struct{ message string }

func (e *lostError) Error() string     { return e.message }
func (e *lostError) Restartable() bool { return true }
