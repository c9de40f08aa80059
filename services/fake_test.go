package services

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeConnector plays servers without processes; it is used inside synctest
// bubbles, so that waiting costs nothing.
type fakeConnector struct {
	mu      sync.Mutex
	starts  []time.Time
	open    int
	maxOpen int
	connect func(n int, ctx context.Context, h Hooks) error // nil = works
	offers  func() []ToolDef                                // what every peer lists; nil = each its own
	listing error                                           // of every Tools
	closing time.Duration
	resolve func(Spec) string // nil = knows no program
	seen    []Spec
	peers   []*fakePeer
}

type fakePeer struct {
	c     *fakeConnector
	name  string
	hooks Hooks
	mu    sync.Mutex
	tools []ToolDef
	ping  error
	once  sync.Once
	fail  error // of Close
	// answer decides what comes of a call or request; nil = it works.
	answer func(ctx context.Context, args json.RawMessage) error
}

func (c *fakeConnector) Connect(ctx context.Context, s Spec, h Hooks) (Peer, error) {
	c.mu.Lock()
	c.starts = append(c.starts, time.Now())
	c.seen = append(c.seen, s)
	n := len(c.starts)
	c.mu.Unlock()
	if c.connect != nil {
		if err := c.connect(n, ctx, h); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	c.maxOpen = max(c.maxOpen, c.open)
	p := &fakePeer{c: c, name: s.Name, hooks: h, tools: []ToolDef{{Name: "echo"}}}
	c.peers = append(c.peers, p)
	h.Info(Info{Pid: n, Protocol: "2025-11-25"})
	return p, nil
}

// Resolve makes it a Resolver.
func (c *fakeConnector) Resolve(_ context.Context, s Spec) (string, error) {
	if c.resolve == nil {
		return "", nil
	}
	return c.resolve(s), nil
}

// count is how often something was started.
func (c *fakeConnector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.starts)
}

func (c *fakeConnector) last() *fakePeer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peers[len(c.peers)-1]
}

func (c *fakeConnector) peerOf(name string) *fakePeer {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.peers) - 1; i >= 0; i-- {
		if c.peers[i].name == name {
			return c.peers[i]
		}
	}
	return nil
}

func (p *fakePeer) Tools(context.Context) ([]ToolDef, error) {
	if p.c.listing != nil {
		return nil, p.c.listing
	}
	if p.c.offers != nil {
		return p.c.offers(), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tools, nil
}

func (p *fakePeer) Call(ctx context.Context, name string, args json.RawMessage, progress Progress) (CallResult, error) {
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer != nil {
		return CallResult{Raw: args}, answer(ctx, args)
	}
	if string(args) == `"wait"` {
		<-ctx.Done()
		return CallResult{}, ctx.Err()
	}
	return CallResult{Raw: args}, nil
}

func (p *fakePeer) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer != nil {
		if err := answer(ctx, params); err != nil {
			return nil, err
		}
	}
	return json.RawMessage(`{"method":"` + method + `"}`), nil
}

func (p *fakePeer) Ping(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ping
}

func (p *fakePeer) reply(f func(ctx context.Context, args json.RawMessage) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

func (p *fakePeer) Close(context.Context) error {
	p.once.Do(func() {
		time.Sleep(p.c.closing)
		p.c.mu.Lock()
		p.c.open--
		p.c.mu.Unlock()
	})
	return p.fail
}

type rig struct {
	*Supervisor
	fake *fakeConnector
	mu   sync.Mutex
	evts []Event
}

// bubble runs f with a Supervisor whose clock is a fake one.
func bubble(t *testing.T, c Config, specs []Spec, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fake: &fakeConnector{}}
		if k, ok := c.Connector.(*fakeConnector); ok {
			r.fake = k
		}
		c := c
		c.Connector = r.fake
		c.Notify = func(e Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.evts = append(r.evts, e)
		}
		v, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		r.Supervisor = v
		v.Set(specs)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- v.Serve(ctx) }()
		f(t, r)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		r.fake.mu.Lock()
		defer r.fake.mu.Unlock()
		if r.fake.open != 0 {
			t.Errorf("%d connections are left", r.fake.open)
		}
	})
}

func (r *rig) state(t *testing.T, name string, want State) Status {
	t.Helper()
	synctest.Wait()
	st, err := r.Status(name)
	if err != nil || st.State != want {
		t.Fatalf("%s is %s (%q), %v; want %s", name, st.State, st.Reason, err, want)
	}
	return st
}

func server(name string) Spec { return Spec{Name: name, Origin: OriginServer, Command: "x"} }

func crash() error { return &ExitError{Code: 3, Stderr: "boom"} }

var errPermanent = errors.New("no such program")
