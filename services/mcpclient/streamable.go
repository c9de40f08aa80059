package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// lateGrace is how long a call waits for its answer after an event that was
	// too long: that may have been another message.
	lateGrace = 2 * time.Second
	// deleteTime bounds ending the session.
	deleteTime = 2 * time.Second
)

// streamable is Streamable HTTP, of the revisions with a session and of those
// without; bare JSON-RPC is the same without everything around the requests.
type streamable struct {
	*link
	bare bool

	mu      sync.Mutex
	session string
	version string // agreed on; "" before
}

// Start implements transport.Interface: there is nothing to start.
func (t *streamable) Start(context.Context) error { return nil }

// GetSessionId implements transport.Interface.
func (t *streamable) GetSessionId() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// SetProtocolVersion implements transport.HTTPConnection.
func (t *streamable) SetProtocolVersion(version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version = version
}

// protocol are the headers of the session and the revision.
func (t *streamable) protocol(extra http.Header) (h http.Header, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h = extra.Clone()
	if h == nil {
		h = http.Header{}
	}
	if t.version != "" && h.Get(mcp.HeaderProtocolVersion) == "" {
		h.Set(mcp.HeaderProtocolVersion, t.version)
	}
	if t.session != "" {
		h.Set(mcp.HeaderSessionID, t.session)
	}
	return h, t.session
}

func (t *streamable) modern() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return mcp.IsModernProtocol(t.version)
}

// SendRequest implements transport.Interface. It is sent once.
func (t *streamable) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := t.bound(ctx)
	defer cancel()
	// The exchange may end before the call does.
	rctx, abort := context.WithCancel(ctx)
	defer abort()
	headers, session := t.protocol(r.Header)
	resp, err := t.post(rctx, t.url, body, headers)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		details, err := t.refusal(resp)
		return t.refused(resp.StatusCode, session, details, err)
	}
	if r.Method == methodInitialize && !t.bare {
		if err := t.begin(resp.Header.Values(mcp.HeaderSessionID)); err != nil {
			return nil, err
		}
	}
	id := idText(r.ID)
	switch mediaType(resp) {
	case typeJSON:
		return t.body(ctx, resp, id)
	case typeSSE:
		return t.stream(ctx, rctx, abort, resp.Body, id)
	}
	if t.bare {
		// Such servers are not careful about types; the body decides.
		if answer, err := t.body(ctx, resp, id); err == nil {
			return answer, nil
		}
	}
	return nil, wrongType(resp)
}

// begin takes the session that an answer to initialize begins.
func (t *streamable) begin(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if len(ids) > 1 {
		return &wireError{message: "the server gives several session ids"}
	}
	if err := checkSessionID(ids[0]); err != nil {
		return &wireError{message: err.Error()}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = ids[0]
	return nil
}

// refused decides what a status other than 200 means for a request.
func (t *streamable) refused(status int, session string, details *mcp.JSONRPCErrorDetails, err *wireError) (*transport.JSONRPCResponse, error) {
	switch {
	case session != "" && forgotten(status, details):
		lost := &sessionLost{fmt.Sprintf("%d %s", status, http.StatusText(status))}
		t.lost(lost)
		return nil, lost
	case status == http.StatusAccepted || status == http.StatusNoContent:
		return nil, &wireError{message: fmt.Sprintf("the server took the request without answering it (%d)", status), status: status}
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status >= 500 || details == nil:
		return nil, err
	}
	return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, Error: details}, nil
}

// body reads an answer that is one JSON body.
func (t *streamable) body(ctx context.Context, resp *http.Response, id string) (*transport.JSONRPCResponse, error) {
	b, err := readAtMost(resp.Body, resp.ContentLength, t.limit)
	if err != nil {
		return nil, t.interrupted(ctx, err)
	}
	t.doubt.Store(false)
	parts, err := messages(b)
	var deep *tooDeep
	switch {
	case errors.As(err, &deep):
		return nil, answerError{&wireError{message: deep.Error()}}
	case err != nil:
		return nil, &wireError{message: "the server's answer cannot be used: " + err.Error()}
	}
	var found *transport.JSONRPCResponse
	for _, raw := range parts {
		m, _ := scanMessage(raw)
		if r := answers(m, id); r != nil && found == nil {
			found = r
			continue
		}
		// An error that belongs to no id is about the only request there is.
		if m.method == nil && m.id == nil && m.err != nil && len(parts) == 1 {
			return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, Error: rpcDetails(m.err)}, nil
		}
		t.deliver(ctx, m, raw, t.reply)
	}
	if found == nil {
		return nil, &wireError{message: "the server answered another request than the one that was sent: its id differs"}
	}
	return found, nil
}

// interrupted turns an error while an answer was being read into a sentence.
func (t *streamable) interrupted(ctx context.Context, err error) error {
	var long *oversized
	switch {
	case errors.As(err, &long):
		return answerError{&wireError{message: long.Error()}}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	t.doubt.Store(true)
	return t.failed(err, true)
}

// methodFirst matches the beginning of a message that is no answer.
var methodFirst = regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"id"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[0-9]+)\s*,\s*)?"method"\s*:`)

// SendNotification implements transport.Interface. Revisions without a session
// know no cancelling by message: closing the request does it.
func (t *streamable) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	if t.bare {
		return nil
	}
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if n.Method != "notifications/cancelled" {
		return t.tell(ctx, n.Method, body)
	}
	if t.modern() {
		return nil
	}
	t.giveUp(func(ctx context.Context) error { return t.tell(ctx, n.Method, body) })
	return nil
}

// reply sends our answer to a request of the server.
func (t *streamable) reply(ctx context.Context, body []byte) error { return t.tell(ctx, "", body) }

// tell posts a message that has no answer.
func (t *streamable) tell(ctx context.Context, method string, body []byte) error {
	ctx, cancel := t.bound(ctx)
	defer cancel()
	var extra http.Header
	if method != "" && t.modern() {
		extra = http.Header{mcp.HeaderMethod: {method}}
	}
	headers, session := t.protocol(extra)
	resp, err := t.post(ctx, t.url, body, headers)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		t.doubt.Store(false)
		return nil
	}
	details, refusal := t.refusal(resp)
	_, err = t.refused(resp.StatusCode, session, details, refusal)
	if err == nil {
		err = refusal
	}
	return err
}

// Close implements transport.Interface.
func (t *streamable) Close() error {
	t.close()
	return nil
}

// leave ends the session at the server.
func (t *streamable) leave(ctx context.Context) {
	headers, session := t.protocol(nil)
	if session == "" || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	resp, err := t.do(ctx, http.MethodDelete, t.url, typeJSON, nil, headers)
	if err != nil {
		return
	}
	resp.Body.Close()
}
