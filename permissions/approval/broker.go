package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Errors of Resolve that a caller tells apart.
var (
	ErrUnknown  = errors.New("there is no such question")
	ErrAnswered = errors.New("the question has been answered already")
	ErrExpired  = errors.New("the question is no longer open")
	ErrChoice   = errors.New("the question does not offer this answer")
)

// Grace is how long a question waits for somebody to show up, and how long
// one look at the list of questions counts as somebody being there.
const Grace = 15 * time.Second

// FormTime is how long a form, a page to open or a reply waits at least: more is
// to be done than to answer yes or no.
const FormTime = 10 * time.Minute

// keepEnded bounds how many ended questions are remembered, so that a late
// answer is told why it came late.
const keepEnded = 256

// Config configures a Broker. The zero value of each field is its default.
type Config struct {
	Timeout func() time.Duration // how long a question waits; default 120 s
	Now     func() time.Time     // default time.Now
	NewID   func() string        // unguessable ids; required
	// Asked and Ended are told of every question, of its end always after its
	// beginning. They must not block, and Asked must not answer by itself.
	Asked func(Question)
	Ended func(Resolution)
	// Elsewhere reports whether somebody who is not among the clients of
	// SetPresent can answer a question. It is asked again whenever Wake says
	// so; nil: nobody can.
	Elsewhere func(Question) bool
	// Remember saves an answer that counts for longer than this call. It is
	// called for the winning answer only, before the call goes on. An error,
	// or a panic, turns the answer into one for this call.
	Remember func(Question, Answer) error
	Log      *slog.Logger // faults of Remember; default slog.Default
}

// Broker holds the questions that wait for a person.
type Broker struct {
	config Config

	mu       sync.Mutex
	open     map[string]*pending
	order    []string // ids of open, oldest first
	ended    map[string]Outcome
	endedIDs []string
	present  int       // connected clients that show questions
	lastSeen time.Time // when somebody last was there
	changed  chan struct{}
}

type pending struct {
	question Question
	told     chan struct{}   // closed when Config.Asked has returned
	done     chan Resolution // buffered; receives once, from whoever removed it from open
}

// NewBroker returns a Broker without questions.
func NewBroker(c Config) *Broker {
	if c.Timeout == nil {
		c.Timeout = func() time.Duration { return 2 * time.Minute }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Asked == nil {
		c.Asked = func(Question) {}
	}
	if c.Ended == nil {
		c.Ended = func(Resolution) {}
	}
	if c.Elsewhere == nil {
		c.Elsewhere = func(Question) bool { return false }
	}
	if c.Remember == nil {
		c.Remember = func(Question, Answer) error { return nil }
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Broker{config: c, open: map[string]*pending{}, ended: map[string]Outcome{}, changed: make(chan struct{})}
}

// SetPresent says how many connected clients show questions to a person.
func (b *Broker) SetPresent(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.present > 0 || n > 0 {
		b.lastSeen = b.config.Now()
	}
	b.present = n
	b.wake()
}

// Seen says that somebody has just looked at the open questions.
func (b *Broker) Seen() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastSeen = b.config.Now()
	b.wake()
}

// Wake says that what Elsewhere answers may have changed.
func (b *Broker) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}

// wake tells every waiting Ask that presence changed. Called with mu held.
func (b *Broker) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Ask puts a question and blocks until it is answered, its deadline passes,
// nobody is there to answer, or ctx ends. It fills ID, Asked and Deadline.
func (b *Broker) Ask(ctx context.Context, q Question) Resolution {
	now := b.config.Now()
	q.ID, q.Asked = b.config.NewID(), now
	q.Deadline = now.Add(b.config.Timeout())
	if form := now.Add(FormTime); q.Kind != KindCall && q.Deadline.Before(form) {
		q.Deadline = form
	}
	if q.Resolved == nil {
		q.Resolved = []Resolved{}
	}
	p := &pending{question: q, told: make(chan struct{}), done: make(chan Resolution, 1)}
	b.mu.Lock()
	b.open[q.ID] = p
	b.order = append(b.order, q.ID)
	b.mu.Unlock()
	// Whatever ends this, no question is left that no call waits for.
	defer b.take(q.ID, Cancelled)
	b.tell(p)

	deadline := time.NewTimer(q.Deadline.Sub(now))
	defer deadline.Stop()
	for {
		alone, changed := b.aloneIn(p.question)
		var nobody <-chan time.Time
		stop := func() bool { return true }
		if alone >= 0 {
			t := time.NewTimer(alone)
			nobody, stop = t.C, t.Stop
		}
		select {
		case r := <-p.done:
			stop()
			return r
		case <-changed:
			stop()
		case <-nobody:
			if left, _ := b.aloneIn(p.question); left != 0 {
				continue
			}
			return b.end(ctx, p, Nobody)
		case <-deadline.C:
			stop()
			return b.end(ctx, p, Expired)
		case <-ctx.Done():
			stop()
			return b.end(ctx, p, Cancelled)
		}
	}
}

// tell announces a question. An answer does not wait for it for ever, even
// when announcing it fails.
func (b *Broker) tell(p *pending) {
	defer close(p.told)
	b.config.Asked(p.question)
}

// aloneIn says how long a question still waits for somebody to show up; negative
// while somebody is there.
func (b *Broker) aloneIn(q Question) (time.Duration, <-chan struct{}) {
	b.mu.Lock()
	changed := b.changed // before Elsewhere is asked: a later change is heard
	b.mu.Unlock()
	elsewhere := b.config.Elsewhere(q)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.present > 0 || elsewhere {
		return -1, changed
	}
	since := q.Asked
	if b.lastSeen.After(since) {
		since = b.lastSeen
	}
	return max(0, Grace-b.config.Now().Sub(since)), changed
}

// end closes a question that nobody answered, unless an answer came first.
// Such an answer may still be being saved, which a call that is over need not
// wait for.
func (b *Broker) end(ctx context.Context, p *pending, o Outcome) Resolution {
	if !b.take(p.question.ID, o) {
		select {
		case r := <-p.done:
			return r
		case <-ctx.Done():
			return Resolution{Question: p.question, Outcome: Cancelled}
		}
	}
	r := Resolution{Question: p.question, Outcome: o}
	b.config.Ended(r)
	return r
}

// take removes an open question and reports whether the caller was first.
func (b *Broker) take(id string, o Outcome) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.open[id]; !ok {
		return false
	}
	delete(b.open, id)
	b.order = slices.DeleteFunc(b.order, func(s string) bool { return s == id })
	b.ended[id] = o
	b.endedIDs = append(b.endedIDs, id)
	if len(b.endedIDs) > keepEnded {
		delete(b.ended, b.endedIDs[0])
		b.endedIDs = b.endedIDs[1:]
	}
	return true
}

// Resolve answers a question. The first answer wins; a later one gets
// ErrAnswered or ErrExpired and saves nothing. An error of Config.Remember is
// returned although the call goes on, allowed once.
func (b *Broker) Resolve(id string, a Answer) error {
	b.mu.Lock()
	p, ok := b.open[id]
	ended, was := b.ended[id]
	b.mu.Unlock()
	switch {
	case !ok && !was:
		return fmt.Errorf("answer question %q: %w", id, ErrUnknown)
	case !ok && ended == Answered:
		return fmt.Errorf("answer question %q: %w", id, ErrAnswered)
	case !ok:
		return fmt.Errorf("answer question %q: %w (%s)", id, ErrExpired, ended)
	case !p.question.offers(a):
		return fmt.Errorf("answer question %q with %q: %w", id, a.Decision, ErrChoice)
	case !b.take(id, Answered):
		return fmt.Errorf("answer question %q: %w", id, ErrAnswered)
	}
	r := Resolution{Question: p.question, Outcome: Answered, Answer: a}
	defer func() { p.done <- r }() // last, and whatever Ended does
	var err error
	if a.Decision == Session || a.Decision == Always || a.Decision == Rule {
		if err = b.remember(p.question, a); err != nil {
			r.Answer.Decision = Once
			err = fmt.Errorf("the call was allowed once, but the answer could not be remembered: %w", err)
		}
	}
	<-p.told
	b.config.Ended(r)
	return err
}

// remember saves an answer. A fault on the way is an error: the question was
// taken already, so that nobody else would let the call go on.
func (b *Broker) remember(q Question, a Answer) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			// What a panic says may hold what it was given.
			b.config.Log.Error("an answer could not be remembered", "tool", q.Tool, "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			err = errors.New("saving it failed inside the companion; its log says where")
		}
	}()
	return b.config.Remember(q, a)
}

// Open returns the open questions, oldest first.
func (b *Broker) Open() []Question {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Question, 0, len(b.order))
	for _, id := range b.order {
		out = append(out, b.open[id].question)
	}
	return out
}
