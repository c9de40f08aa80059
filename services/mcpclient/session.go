package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// session is one MCP connection above a transport, whatever that is.
type session struct {
	wire   transport.Interface
	hooks  services.Hooks
	client Identity
	ids    atomic.Int64
	ctx    context.Context // ends with the connection
	end    context.CancelCauseFunc
	duties crew // goroutines of the session
	bare   bool // JSON-RPC without a protocol around it
	// post writes a request, a line, whose answer comes in by itself; nil: the
	// transport is over HTTP, where requests carry headers. alone: no other
	// request waits for its answer.
	post func(line []byte, alone bool) error

	// Written by the handshake, read afterwards.
	version      string
	capabilities capabilities
	declared     map[string]bool // all capabilities by name

	asked atomic.Int32 // requests of the server that are being answered
	logs  atomic.Bool  // each request asks for its log messages

	mu      sync.Mutex
	pending map[string]*exchange
	strange int                  // answers that nobody waits for
	headed  map[string]*mcp.Tool // tools with parameters that travel in headers
}

// Identity is how the companion introduces itself.
type Identity struct{ Name, Version string }

// rpcError is an error answer of the server.
type rpcError struct {
	code    int
	message string
	data    any
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("the server answered: %s (%d)", services.Shown(e.message, 2000), e.code)
}

func newSession(h services.Hooks, who Identity) *session {
	ctx, end := context.WithCancelCause(context.Background())
	return &session{hooks: h, client: who, ctx: ctx, end: end, pending: map[string]*exchange{}}
}

// attach begins to use the transport, which must have been started.
func (s *session) attach(wire transport.Interface) {
	s.wire = wire
	wire.SetNotificationHandler(s.notified)
	if b, ok := wire.(transport.BidirectionalInterface); ok {
		b.SetRequestHandler(s.requested)
	}
}

// lost ends the connection for the reason.
func (s *session) lost(err error) { s.end(err) }

// request sends one request and returns its result as received. progress, if
// any, is called from this goroutine. When ctx ends first, the server is told.
func (s *session) request(ctx context.Context, method string, params map[string]any, progress services.Progress) (json.RawMessage, error) {
	return s.send(ctx, s.ids.Add(1), s.version, method, params, progress)
}

func (s *session) send(ctx context.Context, id int64, version, method string, params map[string]any, progress services.Progress) (json.RawMessage, error) {
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	key := strconv.FormatInt(id, 10)
	x := &exchange{done: make(chan struct{}, 1)}
	if s.bare {
		progress = nil // nothing but answers comes back
	}
	if progress != nil {
		x.progress = make(chan struct{}, 1)
	}
	s.mu.Lock()
	s.pending[key] = x
	alone := len(s.pending) == 1
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pending, key)
		s.mu.Unlock()
	}()
	if meta := s.meta(ctx, version); meta != nil || progress != nil {
		if params == nil {
			params = map[string]any{}
		}
		if meta == nil {
			meta = map[string]any{}
		}
		if progress != nil {
			meta["progressToken"] = id
		}
		params["_meta"] = meta
	}
	if s.post != nil {
		line, err := requestLine(id, method, params)
		if err == nil {
			err = s.post(line, alone)
		}
		if err != nil {
			return nil, s.unsent(ctx, method, err)
		}
	} else {
		stop, err := s.exchange(ctx, x, id, version, method, params)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	for {
		select {
		case <-x.progress:
			s.tell(x, progress)
		case <-ctx.Done():
			s.cancelled(id, method, ctx)
			return nil, ctx.Err()
		case <-s.ctx.Done():
			// An answer may have come in just before the end.
			select {
			case <-x.done:
				if x.unsent == nil {
					s.tell(x, progress)
					return s.result(x)
				}
			case <-time.After(50 * time.Millisecond):
			}
			return nil, context.Cause(s.ctx)
		case <-x.done:
			if x.unsent == nil {
				s.tell(x, progress)
				return s.result(x)
			}
			if ctx.Err() != nil {
				s.cancelled(id, method, ctx)
				return nil, ctx.Err()
			}
			return nil, s.unsent(ctx, method, x.unsent)
		}
	}
}

// exchange sends a request with a transport that brings the answer itself. stop
// ends it, if it has not ended.
func (s *session) exchange(ctx context.Context, x *exchange, id int64, version, method string, params map[string]any) (stop func(), err error) {
	request := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method}
	if params != nil {
		request.Params = params
	}
	if err := s.dress(&request, version, params); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	if !s.duties.Go(func() {
		r, err := s.wire.SendRequest(ctx, request)
		if x.unsent = err; err == nil {
			s.mu.Lock()
			x.take(r)
			s.mu.Unlock()
		}
		x.done <- struct{}{}
	}) {
		cancel()
		return nil, context.Cause(s.ctx)
	}
	return cancel, nil
}

// tell passes on the progress that has come.
func (s *session) tell(x *exchange, progress services.Progress) {
	if progress == nil {
		return
	}
	s.mu.Lock()
	news := x.news
	x.news = nil
	s.mu.Unlock()
	for _, n := range news {
		progress(n.done, n.total, n.message)
	}
}

// unsent says why a request has no answer that was not given up.
func (s *session) unsent(ctx context.Context, method string, err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return s.cause(err)
	}
	var whole interface{ Restartable() bool }
	if errors.As(err, &whole) {
		return err
	}
	return fmt.Errorf("sending %s: %w", method, err)
}

// dress gives a request the headers that go with its body.
func (s *session) dress(r *transport.JSONRPCRequest, version string, params map[string]any) error {
	var raw json.RawMessage
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return err
		}
		raw, r.Params = b, json.RawMessage(b)
	}
	name, _ := params["name"].(string)
	s.mu.Lock()
	tool := s.headed[name]
	s.mu.Unlock()
	if r.Method != "tools/call" {
		tool = nil
	}
	r.Header = messageHeaders(version, r.Method, raw, tool)
	return nil
}

// cause waits a moment for the reason of an end that the transport saw first.
func (s *session) cause(err error) error {
	select {
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-time.After(2 * time.Second):
		return &lostError{message: "the connection ended: " + err.Error()}
	}
}

// cancelled tells the server that we no longer wait for an answer.
func (s *session) cancelled(id int64, method string, ctx context.Context) {
	if method == methodInitialize || method == methodDiscover {
		return
	}
	s.notify("notifications/cancelled", map[string]any{"requestId": id, "reason": services.Clip(context.Cause(ctx).Error(), 300)})
}
