package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

const (
	// maxErrorBody is read of the body of an error, maxErrorShown of it shown.
	maxErrorBody  = 64 << 10
	maxErrorShown = 4 << 10
	// cancelTime bounds telling the server that a call is cancelled.
	cancelTime = 5 * time.Second
	typeJSON   = "application/json"
	typeSSE    = "text/event-stream"
)

// link is what the transports over HTTP share: one origin, one client, the
// headers of the definition, and a lifetime.
type link struct {
	client  *http.Client
	url     *url.URL
	headers http.Header // of the definition
	agent   string
	limit   int64       // bytes of one answer
	lost    func(error) // ends the connection
	doubt   atomic.Bool // the last exchange failed: is the session still there?

	inbound
}

func newLink(client *http.Client, u *url.URL, spec services.Spec, headers http.Header, agent string, log func(string), lost func(error)) *link {
	w := &link{client: client, url: u, headers: headers, agent: agent, limit: spec.MaxResponseBytes, lost: lost, inbound: newInbound(log)}
	if w.limit <= 0 {
		w.limit = services.DefaultMaxResponse
	}
	return w
}

// close ends everything that is under way and waits for it.
func (w *link) close() {
	w.stop()
	w.work.Wait()
	w.client.CloseIdleConnections()
}

// do sends one request. The headers of the definition come before extra, which
// are the protocol's; Accept and Content-Type are the definition's if it has
// them. The answer's body is to be closed.
func (w *link) do(ctx context.Context, method string, u *url.URL, accept string, body []byte, extra http.Header) (*http.Response, error) {
	var wrote atomic.Bool
	tctx := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	var from io.Reader
	if body != nil {
		from = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(tctx, method, u.String(), from)
	if err != nil {
		return nil, &wireError{message: "its url cannot be used: " + reason(err).Error()}
	}
	r.Header.Set("User-Agent", w.agent)
	r.Header.Set("Accept", accept)
	if body != nil {
		r.Header.Set("Content-Type", typeJSON)
	}
	for _, from := range []http.Header{w.headers, extra} {
		for k, v := range from {
			r.Header[k] = v
		}
	}
	resp, err := w.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.doubt.Store(true)
		return nil, w.failed(err, wrote.Load())
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		resp.Body.Close()
		return nil, &wireError{message: fmt.Sprintf("the server sent its answer compressed (%s), which was not asked for", services.Shown(enc, 40))}
	}
	return resp, nil
}

// post sends one message.
func (w *link) post(ctx context.Context, u *url.URL, body []byte, extra http.Header) (*http.Response, error) {
	return w.do(ctx, http.MethodPost, u, typeJSON+", "+typeSSE, body, extra)
}

// giveUp tells the server that a call is cancelled. Whoever gave up does not
// wait for the server to hear of it.
func (w *link) giveUp(tell func(context.Context) error) {
	w.work.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, cancelTime)
		defer cancel()
		if err := tell(ctx); err != nil && w.ctx.Err() == nil {
			w.log("telling the server that a call is cancelled failed: " + err.Error())
		}
	})
}

// messages splits what one body or one event holds: a message, or a batch of
// them as revision 2025-03-26 knew it. The error of one that is nested too
// deeply is a *tooDeep.
func messages(b []byte) ([][]byte, error) {
	b = inUTF8(bytes.TrimSpace(b))
	if deep := checkDepth(b); deep != nil {
		return nil, deep
	}
	switch {
	case len(b) == 0:
		return nil, errors.New("it is empty")
	case !json.Valid(b):
	case b[0] == '{':
		return [][]byte{b}, nil
	case b[0] == '[':
		parts, ok := scanElements(b, maxBatch)
		if !ok {
			break
		}
		out := make([][]byte, len(parts))
		for i, p := range parts {
			if len(p) == 0 || p[0] != '{' {
				return nil, errors.New("it holds what is no message")
			}
			out[i] = p
		}
		return out, nil
	}
	return nil, fmt.Errorf("it is no JSON-RPC message: %s", services.Shown(string(b[:min(len(b), 200)]), 200))
}

// answers returns m as the answer to the request with our id, nil when it is
// none. The result is a part of the body, not a copy.
func answers(m message, id string) *transport.JSONRPCResponse {
	if m.method != nil || m.id == nil || !sameID(string(m.id), id) {
		return nil
	}
	r := &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION}
	switch {
	case m.err != nil:
		r.Error = rpcDetails(m.err)
	case m.result != nil:
		r.Result = m.result
	case m.marked():
		r.Error = &mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: neither}
	default:
		return nil
	}
	return r
}

func rpcDetails(raw json.RawMessage) *mcp.JSONRPCErrorDetails {
	if len(raw) > maxErrorBody {
		return &mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: fmt.Sprintf("an error of %d bytes, which begins: %s", len(raw), raw[:200])}
	}
	var d struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
		Data    any         `json:"data"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return &mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: services.Clip(string(raw), maxErrorShown)}
	}
	code, _ := strconv.ParseFloat(d.Code.String(), 64)
	return &mcp.JSONRPCErrorDetails{Code: int(code), Message: services.Clip(d.Message, maxErrorShown), Data: d.Data}
}

// sameID compares an id as received with the number that we sent.
func sameID(theirs, ours string) bool {
	if theirs == ours {
		return true
	}
	n, err := strconv.ParseFloat(theirs, 64)
	return err == nil && strconv.FormatFloat(n, 'f', -1, 64) == ours
}

func idText(id mcp.RequestId) string {
	b, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	return string(b)
}

// mediaType is the kind of an answer's body, in lower case.
func mediaType(r *http.Response) string {
	given := r.Header.Get("Content-Type")
	t, _, err := mime.ParseMediaType(given)
	if err != nil {
		t, _, _ = strings.Cut(given, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	return t
}
