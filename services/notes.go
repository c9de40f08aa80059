package services

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

type note uint8

const (
	noteState note = 1 << iota
	noteTools
	noteLog
	noteGone
)

const (
	// Between two tellings: what changes once is told at once, what changes all
	// the time less and less often.
	noteFirst = 2 * time.Millisecond
	notePause = 50 * time.Millisecond
	noteLines = 200 // log lines in one event
)

// notes collects what changed and tells it from one goroutine, so that a slow
// listener or a flood of log lines holds up no server.
type notes struct {
	notify func(Event)
	wake   chan struct{}
	// changes counts what could change which tools there are, at once and not
	// when it is told.
	changes atomic.Uint64

	mu    sync.Mutex
	dirty map[*service]note
	order []*service
	sent  map[*service]uint64 // last log line told
}

func newNotes(notify func(Event)) *notes {
	return &notes{notify: notify, wake: make(chan struct{}, 1), dirty: map[*service]note{}, sent: map[*service]uint64{}}
}

func (n *notes) mark(s *service, what note) {
	n.mu.Lock()
	if s.forgotten {
		n.mu.Unlock()
		return
	}
	s.forgotten = what&noteGone != 0
	if what&(noteTools|noteGone) != 0 {
		n.changes.Add(1)
	}
	if n.notify == nil {
		n.mu.Unlock()
		return
	}
	if n.dirty[s] == 0 {
		n.order = append(n.order, s)
	}
	n.dirty[s] |= what
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// gone tells that a server is no longer known. What its ending still brings
// about is not told: it would bring the server back in every client, or be
// taken for the next server of that name.
func (n *notes) gone(s *service) { n.mark(s, noteGone) }

// serve tells until ctx ends, and then what is left.
func (n *notes) serve(ctx context.Context) {
	var told time.Time
	pause := noteFirst
	for {
		select {
		case <-ctx.Done():
			n.tell()
			return
		case <-n.wake:
		}
		if time.Since(told) > 2*notePause {
			pause = noteFirst
		}
		n.tell()
		told = time.Now()
		sleep(ctx, pause)
		pause = min(2*pause, notePause)
	}
}

func (n *notes) tell() {
	n.mu.Lock()
	dirty, order := n.dirty, n.order
	n.dirty, n.order = map[*service]note{}, nil
	n.mu.Unlock()
	for _, s := range order {
		what := dirty[s]
		if what&noteGone != 0 {
			n.mu.Lock()
			delete(n.sent, s)
			n.mu.Unlock()
			n.notify(Event{Kind: EventGone, Name: s.name})
			continue
		}
		if what&noteState != 0 {
			n.notify(Event{Kind: EventState, Name: s.name, Status: s.status()})
		}
		if what&noteTools != 0 {
			n.notify(Event{Kind: EventTools, Name: s.name})
		}
		if what&noteLog != 0 {
			n.mu.Lock()
			from := n.sent[s]
			n.mu.Unlock()
			if lines := s.logs.after(from, noteLines); len(lines) > 0 {
				n.mu.Lock()
				n.sent[s] = lines[len(lines)-1].Seq
				n.mu.Unlock()
				n.notify(Event{Kind: EventLog, Name: s.name, Lines: lines})
			}
		}
	}
}
