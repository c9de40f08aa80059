package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxServed bounds how many requests of the server are being answered.
	maxServed = 32
	// maxRefused bounds how many refusals of more wait to be sent, and
	// maxRefusedID the bytes of the id that each holds.
	maxRefused   = 1000
	maxRefusedID = 1 << 10
	replyTime    = 30 * time.Second
	// maxNotification is read of a notification: it is decoded as a whole.
	maxNotification = 1 << 20
)

// inbound is what a server sends that is no answer, over whichever transport:
// notifications, and requests that are answered while the reader goes on.
type inbound struct {
	log    func(text string)
	ctx    context.Context // ends with the transport
	stop   context.CancelFunc
	work   crew
	served chan struct{} // a slot for each request of the server
	excess refusals      // requests above that

	onNotification func(mcp.JSONRPCNotification)
	onRequest      transport.RequestHandler
}

func newInbound(log func(text string)) inbound {
	ctx, stop := context.WithCancel(context.Background())
	return inbound{log: log, ctx: ctx, stop: stop, served: make(chan struct{}, maxServed)}
}

// SetNotificationHandler implements transport.Interface.
func (w *inbound) SetNotificationHandler(h func(mcp.JSONRPCNotification)) { w.onNotification = h }

// SetRequestHandler implements transport.BidirectionalInterface.
func (w *inbound) SetRequestHandler(h transport.RequestHandler) { w.onRequest = h }

// bound is ctx, which also ends with the connection.
func (w *inbound) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(w.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// deliver hands a message of the server on, with the context of the call that
// it came with. answer sends our answer back.
func (w *inbound) deliver(ctx context.Context, m message, raw []byte, answer func(context.Context, []byte) error) {
	switch {
	case m.method == nil:
	case m.id == nil:
		if len(raw) > maxNotification {
			w.log(fmt.Sprintf("dropped a notification of the server: it has %d bytes", len(raw)))
			return
		}
		var n mcp.JSONRPCNotification
		if err := json.Unmarshal(raw, &n); err != nil {
			w.log("a notification of the server cannot be read: " + err.Error())
			return
		}
		if w.onNotification != nil {
			w.onNotification(n)
		}
	default:
		w.serve(ctx, m, raw, answer)
	}
}

// serve answers a request of the server in a goroutine of its own.
func (w *inbound) serve(ctx context.Context, m message, raw []byte, answer func(context.Context, []byte) error) {
	var r struct {
		ID     mcp.RequestId   `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || w.onRequest == nil {
		w.log("a request of the server cannot be read")
		return
	}
	select {
	case w.served <- struct{}{}:
	default:
		w.refuse(r.ID, answer)
		return
	}
	request := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: r.ID, Method: r.Method}
	if r.Params != nil {
		request.Params = r.Params
	}
	started := w.work.Go(func() {
		defer func() { <-w.served }()
		hctx, cancel := w.bound(ctx)
		defer cancel()
		response, err := w.onRequest(hctx, request)
		if err != nil {
			response = transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, err.Error(), nil)
		}
		w.respond(response, answer)
	})
	if !started {
		<-w.served
	}
}

// respond sends our answer back.
func (w *inbound) respond(response *transport.JSONRPCResponse, answer func(context.Context, []byte) error) {
	body, err := json.Marshal(response)
	if err == nil {
		ctx, cancel := context.WithTimeout(w.ctx, replyTime)
		defer cancel()
		err = answer(ctx, body)
	}
	if err != nil && w.ctx.Err() == nil {
		w.log("answering a request of the server failed: " + err.Error())
	}
}

// refusals are the answers to requests above the limit. One goroutine sends
// them, so that a flood takes neither many connections nor the reader's time.
type refusals struct {
	mu      sync.Mutex
	ids     []mcp.RequestId
	sending bool
}

// refuse answers that too much is being asked. It does not wait.
func (w *inbound) refuse(id mcp.RequestId, answer func(context.Context, []byte) error) {
	x := &w.excess
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.ids) >= maxRefused || len(idText(id)) > maxRefusedID {
		w.log(fmt.Sprintf("dropped a request of the server: %d are being answered and %d refused", maxServed, len(x.ids)))
		return
	}
	x.ids = append(x.ids, id)
	if !x.sending {
		x.sending = w.work.Go(func() { w.sendRefusals(answer) })
	}
}

func (w *inbound) sendRefusals(answer func(context.Context, []byte) error) {
	x := &w.excess
	for {
		x.mu.Lock()
		if len(x.ids) == 0 || w.ctx.Err() != nil {
			x.ids, x.sending = nil, false
			x.mu.Unlock()
			return
		}
		id := x.ids[0]
		x.ids = x.ids[1:]
		x.mu.Unlock()
		w.respond(transport.NewJSONRPCErrorResponse(id, mcp.INTERNAL_ERROR, "too many requests at a time", nil), answer)
	}
}
