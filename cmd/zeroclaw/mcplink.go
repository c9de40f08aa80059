package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"zeroclaw/localserver"
	"zeroclaw/tools/jsonparts"
)

// link keeps a client connected to the companion, also when that is started
// anew: it finds it again and begins the client's session over.
type link struct {
	find func(ctx context.Context, start bool) (localserver.Instance, error)
	path string // of the MCP endpoint, with the query
	// renewed is told about a session that took the place of another one.
	renewed func(old *target)
	turn    chan struct{} // holds one while somebody looks for the companion

	mu          sync.Mutex
	now         *target
	initialize  *message           // how the client began its session
	initialized *message           // and that it did
	kept        map[string]message // what it set in it since, by what it is about
}

func newLink(path string, find func(context.Context, bool) (localserver.Instance, error)) *link {
	return &link{find: find, path: path, turn: make(chan struct{}, 1), kept: map[string]message{}}
}

// current is the session there is, nil before the first.
func (l *link) current() *target {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// connect is the session there is, else a new one.
func (l *link) connect(ctx context.Context) (*target, error) {
	if t := l.current(); t != nil {
		return t, nil
	}
	return l.renew(ctx, nil, lost{}, true)
}

// renew is a session in place of one that failed: that of whoever came first,
// the same one where only a connection was lost, else a new one. Only with
// start a companion is started where none runs.
func (l *link) renew(ctx context.Context, failed *target, why lost, start bool) (*target, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	old := l.current()
	if old != failed {
		return old, nil
	}
	i, err := l.find(ctx, start)
	if err != nil {
		return nil, err
	}
	t := newTarget(i, l.path)
	if old != nil && old.Token == i.Token && old.Port == i.Port {
		if !why.session {
			return old, nil
		}
		t = old.with("", "")
	}
	if t, err = l.begin(ctx, t); err != nil {
		return nil, err
	}
	l.replace(t)
	return t, nil
}

// replace makes a session the current one.
func (l *link) replace(t *target) {
	l.mu.Lock()
	old := l.now
	l.now = t
	l.mu.Unlock()
	if old == nil {
		return
	}
	close(old.gone)
	if old.client != t.client {
		old.client.CloseIdleConnections()
	}
	if l.renewed != nil && old.version != "" {
		l.renewed(old)
	}
}

// begin does what the client did at the start of its session, and shows it
// nothing of that. Without a session there is nothing to do.
func (l *link) begin(ctx context.Context, t *target) (*target, error) {
	l.mu.Lock()
	initialize, initialized := l.initialize, l.initialized
	kept := slices.Collect(maps.Values(l.kept))
	l.mu.Unlock()
	if initialize == nil {
		return t, nil
	}
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	t, reply, err := t.initialize(ctx, *initialize, nothing)
	switch {
	case err != nil:
		return nil, fmt.Errorf("begin a new session: %w", err)
	case t.version == "":
		return nil, fmt.Errorf("begin a new session: the companion answered %s", cut(oneLine(string(reply.raw)), 200))
	case initialized == nil:
		return t, nil
	}
	// What was set is taken along as far as it goes.
	for _, m := range append([]message{*initialized}, kept...) {
		if err := t.exchange(ctx, m, func() {}, nothing); errors.As(err, new(lost)) {
			return nil, fmt.Errorf("begin a new session: %w", err)
		}
	}
	return t, nil
}

func nothing(message) {}

// initialize opens a session. The reply may be an error of the companion; then
// there is no session. Whatever else comes before it is handed to got.
func (t *target) initialize(ctx context.Context, m message, got func(message)) (*target, message, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := t.open(ctx, m, func() {})
	if err != nil {
		return nil, message{}, err
	}
	defer answer.Body.Close()
	var reply *message
	err = t.read(ctx, cancel, answer, m, func(r message) {
		if r.method == "" && reply == nil {
			reply = &r
		} else {
			got(r)
		}
	})
	if err != nil {
		return nil, message{}, err
	}
	if reply == nil {
		return nil, message{}, errors.New("the companion gave no answer")
	}
	var version string
	_ = jsonparts.Split(reply.raw, func(name string, value json.RawMessage) {
		if name == "result" {
			_ = jsonparts.Split(value, func(name string, value json.RawMessage) {
				if name == "protocolVersion" {
					version = jsonText(value)
				}
			})
		}
	})
	if version == "" {
		return t, *reply, nil
	}
	return t.with(answer.Header.Get("Mcp-Session-Id"), version), *reply, nil
}

// began says how the client began its session, which makes it the current one.
func (l *link) began(t *target, initialize message) {
	l.mu.Lock()
	old := l.now
	l.initialize, l.initialized, l.now = &initialize, nil, t
	clear(l.kept)
	l.mu.Unlock()
	if old != nil && old != t {
		close(old.gone)
	}
}

// ready says that the client has begun its session.
func (l *link) ready(initialized message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.initialized = &initialized
}

// keep takes along what a request that succeeded set in the session.
func (l *link) keep(m message) {
	about := m.method
	switch m.method {
	case "logging/setLevel":
	case "resources/subscribe", "resources/unsubscribe":
		about = "resource " + m.name
	default:
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.method == "resources/unsubscribe" {
		delete(l.kept, about)
	} else {
		l.kept[about] = m
	}
}

// wait returns when the session is no longer the current one.
func (t *target) wait(ctx context.Context, atMost time.Duration) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-t.gone:
	case <-timer.C:
	case <-ctx.Done():
	}
}
