package mcpclient

import (
	"fmt"
	"io"
	"runtime"
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
	// maxSpare bounds, in lines, the queue that is kept to be filled again.
	maxSpare = 256
)

// outbox is a server's standard input. send never waits for the server: one
// goroutine does, and declares the connection dead when the server takes
// nothing for a while. (A half-written line cannot be taken back.) What has come
// meanwhile is written together; a line that comes alone is written by send
// itself as far as the server's pipe has room, which saves waking the goroutine.
type outbox struct {
	to    io.WriteCloser
	now   tryWriter // to, where that can be tried; else nil
	stall time.Duration
	fail  func(error) // called when the server stopped reading, or cannot any more

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	taken  bool // run has taken lines out of the queue and is writing them
	closed bool
	wake   chan struct{}
	done   chan struct{}

	watch *time.Timer // of run alone
}

// tryWriter writes as much as is taken without waiting, which may be nothing.
type tryWriter interface {
	TryWrite(b []byte) (int, error)
}

func newOutbox(to io.WriteCloser, stall time.Duration, fail func(error)) *outbox {
	o := &outbox{to: to, stall: stall, fail: fail, wake: make(chan struct{}, 1), done: make(chan struct{})}
	o.now, _ = to.(tryWriter)
	go o.run()
	return o
}

// send takes one line, which is its own from then on. alone: no other is
// expected meanwhile, with which it could be written together.
func (o *outbox) send(line []byte, alone bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return io.ErrClosedPipe
	case o.bytes+len(line) > outboxLimit:
		return fmt.Errorf("the server does not read its input: %d bytes are waiting already", o.bytes)
	}
	if alone && o.now != nil && !o.taken && len(o.queue) == 0 {
		// What goes wrong here goes wrong for run as well, which tells.
		n, _ := o.now.TryWrite(line)
		if line = line[n:]; len(line) == 0 {
			return nil
		}
	}
	o.queue = append(o.queue, line)
	o.bytes += len(line)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
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
	var spare [][]byte // the queue that was written last, to be filled again
	var joined []byte
	for range o.wake {
		for {
			// Whoever is about to send may do so first: one write for many.
			runtime.Gosched()
			o.mu.Lock()
			if o.closed {
				o.mu.Unlock()
				return
			}
			lines := o.queue
			o.queue = spare[:0]
			o.taken = len(lines) > 0
			o.mu.Unlock()
			if len(lines) == 0 {
				spare = lines
				break
			}
			for rest := lines; len(rest) > 0; {
				var part []byte
				part, rest, joined = join(rest, joined)
				if !o.write(part) {
					return
				}
				o.mu.Lock()
				o.bytes -= len(part)
				o.mu.Unlock()
			}
			clear(lines)
			if spare = lines; cap(spare) > maxSpare {
				spare = nil
			}
		}
	}
}

// join puts the first lines together, up to outboxChunk bytes, or takes the first
// alone if it is longer. buffer is where.
func join(lines [][]byte, buffer []byte) (part []byte, rest [][]byte, _ []byte) {
	if len(lines) == 1 || len(lines[0])+len(lines[1]) > outboxChunk {
		return lines[0], lines[1:], buffer
	}
	buffer = buffer[:0]
	for len(lines) > 0 && len(buffer)+len(lines[0]) <= outboxChunk {
		buffer = append(buffer, lines[0]...)
		lines = lines[1:]
	}
	return buffer, lines, buffer
}

func (o *outbox) write(line []byte) bool {
	for len(line) > 0 {
		part := line[:min(len(line), outboxChunk)]
		if o.watch == nil {
			o.watch = time.AfterFunc(o.stall, func() {
				o.fail(&lostError{message: fmt.Sprintf("the server has not read its input for %s", o.stall)})
			})
		} else {
			o.watch.Reset(o.stall)
		}
		_, err := o.to.Write(part)
		o.watch.Stop()
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
