package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// remoteSession is one session with a server over HTTP.
type remoteSession struct {
	*session
	link  *link
	leave func(context.Context) // ends the session at the server
}

// openRemote begins a session.
func (c *Connector) openRemote(ctx context.Context, spec services.Spec, h services.Hooks) (*remoteSession, error) {
	headers, err := userHeaders(spec.Headers)
	if err != nil {
		return nil, err
	}
	client, u, err := newHTTPClient(spec, c.config.Environ())
	if err != nil {
		return nil, unusableError{err}
	}
	s := newSession(h, c.config.Identity)
	l := newLink(client, u, spec, headers, c.config.Identity.Name+"/"+c.config.Identity.Version,
		func(text string) { h.Log("companion", text) }, s.lost)
	r := &remoteSession{session: s, link: l, leave: func(context.Context) {}}
	hint := spec.Protocol
	var over transport.Interface
	switch spec.Transport {
	case services.TransportSSE:
		over = &eventSource{link: l}
		// Nothing newer was ever spoken over it.
		if hint == "" || mcp.IsModernProtocol(hint) {
			hint = mcp.LATEST_LEGACY_PROTOCOL_VERSION
		}
	default:
		t := &streamable{link: l, bare: spec.Transport == services.TransportJSONRPC}
		s.bare, r.leave, over = t.bare, t.leave, t
	}
	s.attach(over)
	if err := over.Start(ctx); err != nil {
		r.close(ctx)
		return nil, err
	}
	if s.bare {
		h.Info(services.Info{})
		return r, nil
	}
	g, err := s.handshake(ctx, hint)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%s did not answer the first question of the protocol in time", u.Host)
		}
		r.close(ctx)
		return nil, err
	}
	h.Info(services.Info{Protocol: s.version, ServerName: g.ServerInfo.Name, ServerVersion: g.ServerInfo.Version,
		Instructions: g.Instructions, Capabilities: g.Capabilities})
	if t, ok := over.(*streamable); ok && !mcp.IsModernProtocol(s.version) {
		t.listen(ctx, s.hooks.ToolsChanged)
	}
	s.listen()
	return r, nil
}

// close ends the session and waits for everything of it.
func (r *remoteSession) close(ctx context.Context) {
	lost := r.ctx.Err() != nil
	r.lost(errClosed)
	if !lost {
		r.leave(ctx)
	}
	_ = r.wire.Close()
	r.duties.Wait()
}

// remotePeer is the connection to a server over HTTP: one session after the
// other, should the server lose them.
type remotePeer struct {
	open  func(ctx context.Context) (*remoteSession, error)
	hooks services.Hooks

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	over chan struct{} // closed when run has ended

	mu      sync.Mutex
	current *remoteSession // nil while a new one is being opened
	failed  error          // why there will be none any more
	changed chan struct{}  // closed at the next change
}

const (
	// A server that loses its sessions more often than renewLimit times in
	// renewWindow is left to the back-off of the supervisor.
	renewLimit  = 5
	renewWindow = time.Minute
	// doubtTime bounds the question whether the server still knows the session.
	doubtTime = 10 * time.Second
)

func (c *Connector) connectRemote(ctx context.Context, spec services.Spec, h services.Hooks) (*remotePeer, error) {
	limit := cmp.Or(spec.HandshakeTimeout, services.DefaultHandshakeTimeout)
	p := &remotePeer{hooks: h, over: make(chan struct{}), changed: make(chan struct{})}
	p.open = func(ctx context.Context) (*remoteSession, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return c.openRemote(ctx, spec, h)
	}
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	p.current = s
	p.ctx, p.stop = context.WithCancel(context.Background())
	go p.run(s)
	return p, nil
}

// run stays with the sessions until Close, or until none can be had.
func (p *remotePeer) run(s *remoteSession) {
	defer close(p.over)
	var renewed []time.Time
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-s.ctx.Done():
		}
		cause := context.Cause(s.ctx)
		p.set(nil, nil)
		s.close(p.ctx)
		renewed = slices.DeleteFunc(renewed, func(t time.Time) bool { return time.Since(t) >= renewWindow })
		var lost *sessionLost
		next, err := (*remoteSession)(nil), cause
		if errors.As(cause, &lost) && len(renewed) < renewLimit {
			if next, err = p.open(p.ctx); err != nil {
				err = fmt.Errorf("%w; a new session could not be begun: %w", cause, err)
			}
		}
		if next == nil {
			p.set(nil, err)
			if p.ctx.Err() == nil {
				p.hooks.Closed(err)
			}
			return
		}
		renewed = append(renewed, time.Now())
		s = next
		p.set(s, nil)
		p.hooks.Log("companion", "the server lost the session ("+lost.how+"): a new one was begun")
		p.hooks.ToolsChanged()
	}
}

func (p *remotePeer) set(s *remoteSession, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.failed = s, err
	close(p.changed)
	p.changed = make(chan struct{})
}

// use returns the session, once there is one.
func (p *remotePeer) use(ctx context.Context) (*remoteSession, error) {
	for {
		p.mu.Lock()
		s, err, changed := p.current, p.failed, p.changed
		p.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case s != nil && s.ctx.Err() == nil:
			return s, nil
		}
		select {
		case <-changed:
		case <-p.over:
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sure returns a session that the server still knows, as far as that can be
// told before a call is written: after a failure it is asked first.
func (p *remotePeer) sure(ctx context.Context) (*remoteSession, error) {
	for {
		s, err := p.use(ctx)
		if err != nil || !s.link.doubt.Load() || s.wire.GetSessionId() == "" {
			return s, err
		}
		pctx, cancel := context.WithTimeout(ctx, doubtTime)
		err = s.Ping(pctx)
		cancel()
		switch {
		case err == nil:
			return s, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.ctx.Err() == nil:
			return nil, fmt.Errorf("nothing was sent, because the server does not answer: %w", err)
		}
	}
}

// Tools implements services.Peer.
func (p *remotePeer) Tools(ctx context.Context) ([]services.ToolDef, error) {
	s, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	return s.Tools(ctx)
}

// Call implements services.Peer.
func (p *remotePeer) Call(ctx context.Context, name string, args json.RawMessage, progress services.Progress) (services.CallResult, error) {
	s, err := p.sure(ctx)
	if err != nil {
		return services.CallResult{}, err
	}
	return s.Call(ctx, name, args, progress)
}

// Request implements services.RequestPeer.
func (p *remotePeer) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	s, err := p.sure(ctx)
	if err != nil {
		return nil, err
	}
	return s.Request(ctx, method, params)
}

// Ping implements services.Peer.
func (p *remotePeer) Ping(ctx context.Context) error {
	s, err := p.use(ctx)
	if err != nil {
		return err
	}
	return s.Ping(ctx)
}

// RootsChanged implements services.RootsPeer.
func (p *remotePeer) RootsChanged(ctx context.Context) error {
	s, err := p.use(ctx)
	if err != nil {
		return err
	}
	return s.RootsChanged(ctx)
}

// Close implements services.Peer.
func (p *remotePeer) Close(ctx context.Context) error {
	p.stop()
	<-p.over
	p.mu.Lock()
	s := p.current
	p.current, p.failed = nil, errClosed
	p.mu.Unlock()
	if s != nil {
		s.close(ctx)
	}
	return nil
}
