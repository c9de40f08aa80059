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
)

// serve answers a request of the server in a goroutine of its own.
func (w *link) serve(ctx context.Context, m message, raw []byte, answer func(context.Context, []byte) error) {
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
func (w *link) respond(response *transport.JSONRPCResponse, answer func(context.Context, []byte) error) {
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
func (w *link) refuse(id mcp.RequestId, answer func(context.Context, []byte) error) {
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

func (w *link) sendRefusals(answer func(context.Context, []byte) error) {
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
