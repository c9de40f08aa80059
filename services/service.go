package services

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// Why a connection ends although nothing is wrong with it.
var (
	errStop    = errors.New("it was stopped")
	errRestart = errors.New("it is being restarted")
)

// Times for ending a process: as a user stops it, as the companion quits, and
// after a failed start, where nobody waits for a polite end.
const (
	stopTime   = 5 * time.Second
	quitTime   = 2500 * time.Millisecond
	failedTime = 1500 * time.Millisecond
)

// service is one server and the goroutine that owns it.
type service struct {
	sup  *Supervisor
	name string
	logs *ring
	*concealer
	kick chan struct{} // wakes the goroutine; capacity 1
	// orders asks the goroutine of a running server to read its tools.
	orders chan chan<- error
	done   chan struct{} // closed when the goroutine ended
	end    context.CancelFunc

	mu      sync.Mutex // guards everything below
	changed chan struct{}
	rev     uint64 // counts changes
	spec    Spec
	saved   Saved

	want, wantInstall bool
	loans             map[*loan]struct{} // wishes for it to run for a moment
	installed         bool
	notBefore         time.Time
	crashes           []time.Time

	byPerson bool   // a person stopped it: only a person starts it
	rested   bool   // it was stopped because nobody used it
	source   string // sourceHash of spec
	removed  bool   // its definition is gone, or the companion quits

	state       State
	reason      string
	attempt     int                     // counts connections, to tell them apart
	active      bool                    // an attempt or a connection exists
	cancel      context.CancelCauseFunc // ends it
	life        context.Context         // ends with it
	peer        Peer                    // set while it can be called
	closeErr    error                   // what the last close could not end
	launched    string                  // launchKey of the running one
	info        Info
	tools       []ToolDef
	running     string // sourceHash of what it was started as
	program     string // what a start of resolvedFor, a launchKey, would run
	resolvedFor string
	memory      memory
	onRequest   bool              // the next start is for a Discover
	requested   int               // counts the readings that were asked for
	answer      Discovery         // of the last of them
	uses        map[*use]struct{} // what it has not answered yet
	asking      int               // questions to a person that are open
	lastUse     time.Time         // when the last use ended, or it started
	breaker     breaker
	faulted     time.Time // when the breaker was last told of what may be a lost connection
	notices     []string
	started     time.Time
	lastOK      time.Time
	latency     time.Duration
	handshake   time.Duration // how long the last start took
	restarts    int
	told        offer // since the last EventTools

	forgotten bool // guarded by notes.mu: its removal is, or will be, the last thing told

	// Of the goroutine alone: whether the revision that was spoken last was
	// tried, and whether that failed. A server that was replaced by one of
	// another era must not be asked in the wrong way for ever.
	hinted, misled bool
}

// edit changes the service under its lock, wakes who waits for a change, and
// announces it.
func (s *service) edit(f func()) {
	s.mu.Lock()
	f()
	s.rev++
	what := noteState
	if now := s.offerLocked(); now != s.told {
		s.told = now
		what |= noteTools
	}
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.sup.notes.mark(s, what)
}

// offer is what a list of all tools is made from, beside the definitions of the
// tools themselves: their changes are marked where they are read.
type offer struct {
	state    State
	from     string
	tools    int
	onDemand bool
	waiting  bool // for its next attempt
	origin   string
}

func (s *service) offerLocked() offer {
	tools, from := s.toolsLocked()
	return offer{state: s.state, from: from, tools: len(tools), onDemand: s.lazyLocked(), waiting: !s.notBefore.IsZero(), origin: s.spec.Origin}
}

// wake makes the goroutine look again.
func (s *service) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *service) log(text string) { s.addLog("companion", text) }

func (s *service) addLog(stream, text string) {
	s.logs.add(stream, text)
	s.sup.notes.mark(s, noteLog)
}

// run is the goroutine: it owns every process and connection of the server.
// It returns when ctx ended and nothing is left.
func (s *service) run(ctx context.Context, before <-chan struct{}) {
	defer close(s.done)
	if before != nil {
		// The server of the same name that was removed must be gone first.
		<-before
	}
	for ctx.Err() == nil {
		s.mu.Lock()
		w := wish{want: s.wantedLocked(), wantInstall: s.wantInstall, usable: s.spec.Invalid == nil && !s.spec.Disabled, installed: s.installed, notBefore: s.notBefore}
		s.mu.Unlock()
		now := time.Now()
		switch nextStep(w, now) {
		case rest:
			s.resolve(ctx)
			s.idle(ctx, -1)
		case wait:
			s.idle(ctx, w.notBefore.Sub(now))
		case install:
			s.install(ctx)
		case connect:
			s.live(ctx)
		}
	}
	s.edit(func() {
		if s.state != Failed && s.state != NotInstalled {
			s.state, s.reason = Stopped, ""
		}
		s.notBefore = time.Time{}
	})
}

// idle waits for a wish, for the time (negative = for ever), or for the end.
func (s *service) idle(ctx context.Context, d time.Duration) {
	var tick <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		tick = t.C
	}
	select {
	case <-ctx.Done():
	case <-s.kick:
	case <-tick:
	}
}

// begin opens an attempt that a stop can end. It is not ok when the wish was
// taken back meanwhile.
func (s *service) begin(ctx context.Context, state State) (actx context.Context, spec Spec, values map[string]any, ok bool) {
	actx, cancel := context.WithCancelCause(ctx)
	s.edit(func() {
		if ok = state == Starting && s.wantedLocked() || state == Installing && s.wantInstall; !ok {
			return
		}
		s.attempt++
		s.active, s.cancel, s.life = true, cancel, actx
		context.AfterFunc(actx, func() { s.cut(actx) })
		// Only a failure sets a time for the next attempt.
		again := !s.notBefore.IsZero()
		s.state, s.reason, s.notBefore, s.closeErr = state, "", time.Time{}, nil
		spec, values = s.spec, s.saved.Options
		if state == Starting {
			if again {
				s.restarts++
			}
			s.launched, s.running = launchKey(s.spec, s.saved.Options), s.source
			s.info, s.notices, s.rested = Info{}, nil, false
		}
	})
	if !ok {
		cancel(nil)
	}
	return actx, spec, values, ok
}

// hooks are the reports of one connection. Those of a connection that is over
// change nothing.
func (s *service) hooks(life context.Context, lost chan<- error, stale chan<- struct{}) Hooks {
	s.mu.Lock()
	mine := s.attempt
	s.mu.Unlock()
	ifMine := func(f func()) {
		s.edit(func() {
			if s.attempt == mine && s.active {
				f()
			}
		})
	}
	h := Hooks{
		Log: s.addLog,
		Notice: func(text string) {
			ifMine(func() {
				if len(s.notices) < 20 {
					s.notices = append(s.notices, s.shown(text, 500))
				}
			})
			s.addLog("companion", text)
		},
		Info: func(i Info) { ifMine(func() { s.info = i }) },
		ToolsChanged: func() {
			select {
			case stale <- struct{}{}:
			default:
			}
		},
		Notified: func(method string, params json.RawMessage) {
			if f := s.sup.config.Notified; f != nil {
				f(s.name, method, params)
			}
		},
		Closed: func(err error) {
			select {
			case lost <- err:
			default:
			}
		},
		Roots: s.sup.config.Roots,
	}
	if s.sup.config.Ask != nil {
		h.Ask = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			return s.ask(ctx, life, method, params)
		}
	}
	return h
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
