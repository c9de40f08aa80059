package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	remote bool // over HTTP: requests carry headers
	bare   bool // JSON-RPC without a protocol around it

	// Written by the handshake, read afterwards.
	version      string
	capabilities capabilities
	declared     map[string]bool // all capabilities by name

	asked atomic.Int32 // requests of the server that are being answered
	words words        // their parameters as they stood
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
	x := &exchange{progress: make(chan struct{}, 1)}
	s.mu.Lock()
	s.pending[key] = x
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pending, key)
		s.mu.Unlock()
	}()

	if s.bare {
		progress = nil // nothing but answers comes back
	}
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
	request := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method}
	if params != nil {
		request.Params = params
	}
	if s.remote {
		if err := s.dress(&request, version, params); err != nil {
			return nil, err
		}
	}

	type answer struct {
		response *transport.JSONRPCResponse
		err      error
	}
	answers := make(chan answer, 1)
	rctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !s.duties.Go(func() {
		r, err := s.wire.SendRequest(rctx, request)
		answers <- answer{r, err}
	}) {
		return nil, context.Cause(s.ctx)
	}
	tell := func() {
		s.mu.Lock()
		news := x.news
		x.news = nil
		s.mu.Unlock()
		for _, n := range news {
			if progress != nil {
				progress(n.done, n.total, n.message)
			}
		}
	}
	for {
		select {
		case <-x.progress:
			tell()
		case <-ctx.Done():
			s.cancelled(id, method, ctx)
			return nil, ctx.Err()
		case <-s.ctx.Done():
			// An answer may have come in just before the end.
			select {
			case a := <-answers:
				if a.err == nil {
					tell()
					return s.result(x, a.response)
				}
			case <-time.After(50 * time.Millisecond):
			}
			return nil, context.Cause(s.ctx)
		case a := <-answers:
			if a.err == nil {
				tell()
				return s.result(x, a.response)
			}
			if ctx.Err() != nil {
				s.cancelled(id, method, ctx)
				return nil, ctx.Err()
			}
			if errors.Is(a.err, transport.ErrTransportClosed) {
				return nil, s.cause(a.err)
			}
			var whole interface{ Restartable() bool }
			if errors.As(a.err, &whole) {
				return nil, a.err
			}
			return nil, fmt.Errorf("sending %s: %w", method, a.err)
		}
	}
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
