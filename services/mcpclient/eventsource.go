package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// eventSource is HTTP+SSE of revision 2024-11-05: everything of the server comes
// on one stream, whose first event names where our messages go. When the stream
// ends, so does the session.
type eventSource struct {
	*link
	endpoint *url.URL // where messages go; set by Start

	mu      sync.Mutex
	waiting map[string]chan arrival // our requests by id
}

// arrival is what a waiting request gets.
type arrival struct {
	response *transport.JSONRPCResponse
	err      error
}

// Start opens the stream and waits for the endpoint.
func (t *eventSource) Start(ctx context.Context) error {
	t.waiting = map[string]chan arrival{}
	rctx, abort := context.WithCancel(t.ctx)
	// The stream outlives ctx, its beginning does not.
	stop := context.AfterFunc(ctx, abort)
	fail := func(err error) error {
		abort()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	resp, err := t.do(rctx, http.MethodGet, t.url, typeSSE, nil, nil)
	if err != nil {
		return fail(err)
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		_, refusal := t.refusal(resp)
		if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed {
			refusal.message = fmt.Sprintf("its url offers no stream of events (%d %s): if the server is newer, its transport is http", resp.StatusCode, http.StatusText(resp.StatusCode))
		}
		return fail(refusal)
	case mediaType(resp) != typeSSE:
		resp.Body.Close()
		return fail(wrongType(resp))
	}
	reader := &eventReader{from: resp.Body, limit: t.limit}
	for t.endpoint == nil {
		e, err := reader.next()
		if err != nil {
			resp.Body.Close()
			return fail(&wireError{message: "the stream of events ended without naming the endpoint: " + reason(err).Error(), again: true})
		}
		if e.name != "endpoint" {
			continue
		}
		if t.endpoint, err = endpointURL(t.url, string(e.data)); err != nil {
			resp.Body.Close()
			return fail(&wireError{message: "refused: " + err.Error()})
		}
	}
	if !stop() {
		resp.Body.Close()
		return fail(context.Canceled)
	}
	t.work.Go(func() {
		defer abort()
		defer resp.Body.Close()
		t.read(reader)
	})
	return nil
}

// read hands on what the stream brings until it ends.
func (t *eventSource) read(reader *eventReader) {
	for {
		e, err := reader.next()
		var long *oversized
		var never *endless
		switch {
		case errors.As(err, &long):
			t.log("an event of the server was thrown away: " + long.Error())
			t.tooLong(long)
			continue
		case errors.As(err, &never):
			t.lost(never)
			return
		case err != nil:
			if t.ctx.Err() == nil {
				t.lost(&sessionLost{"its stream of events ended: " + services.Shown(reason(err).Error(), 200)})
			}
			return
		}
		t.doubt.Store(false)
		if len(e.data) == 0 || e.name != "" && e.name != "message" {
			continue
		}
		parts, err := messages(e.data)
		if err != nil {
			t.log("an event of the server was thrown away: " + err.Error())
			var deep *tooDeep
			if errors.As(err, &deep) && deep.method == nil {
				t.unusable(deep.id, deep.Error())
			}
			continue
		}
		for _, raw := range parts {
			m, _ := scanMessage(raw)
			if m.method == nil && t.arrived(m) {
				continue
			}
			// Which call it belongs to cannot be told.
			t.deliver(t.ctx, m, raw, t.tell)
		}
	}
}

// arrived gives an answer to the request that waits for it. A request of the
// server is never one, whatever its id.
func (t *eventSource) arrived(m message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, to := range t.waiting {
		if r := answers(m, id); r != nil {
			delete(t.waiting, id)
			to <- arrival{response: r}
			return true
		}
	}
	return false
}

// tooLong fails the request whose answer was too long to read, or all that wait
// when it cannot be told which one it was.
func (t *eventSource) tooLong(long *oversized) {
	if methodFirst.Match(long.head) {
		return
	}
	id := ""
	if m := firstID.FindSubmatch(long.head); m != nil {
		id = string(m[1])
	}
	t.unusable(id, long.Error())
}

// unusable fails the request with the id. Without one it fails all that wait,
// unless their answers come soon.
func (t *eventSource) unusable(id, why string) {
	t.mu.Lock()
	hit := map[string]chan arrival{}
	for waiting, to := range t.waiting {
		if id == "" || sameID(id, waiting) {
			hit[waiting] = to
		}
	}
	t.mu.Unlock()
	grace := lateGrace
	if id != "" {
		grace = 0
	}
	t.work.Go(func() {
		if !pause(t.ctx, grace) {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for id, to := range hit {
			if t.waiting[id] == to {
				delete(t.waiting, id)
				to <- arrival{err: answerError{&wireError{message: why}}}
			}
		}
	})
}

// SendRequest implements transport.Interface. It is sent once.
func (t *eventSource) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := t.bound(ctx)
	defer cancel()
	id, to := idText(r.ID), make(chan arrival, 1)
	t.mu.Lock()
	t.waiting[id] = to
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.waiting, id)
		t.mu.Unlock()
	}()
	posted := make(chan arrival, 1)
	t.work.Go(func() {
		answer, err := t.send(ctx, body, id)
		posted <- arrival{answer, err}
	})
	for {
		select {
		case a := <-to:
			return a.response, a.err
		case p := <-posted:
			if p.err != nil || p.response != nil {
				return p.response, p.err
			}
			posted = nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// send posts a message. Some servers answer in the body.
func (t *eventSource) send(ctx context.Context, body []byte, id string) (*transport.JSONRPCResponse, error) {
	resp, err := t.post(ctx, t.endpoint, body, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent:
	default:
		details, refusal := t.refusal(resp)
		if forgotten(resp.StatusCode, details) {
			lost := &sessionLost{fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
			t.lost(lost)
			return nil, lost
		}
		return nil, refusal
	}
	if mediaType(resp) != typeJSON || id == "" {
		return nil, nil
	}
	b, err := readAtMost(resp.Body, resp.ContentLength, t.limit)
	if err != nil {
		return nil, &wireError{message: reason(err).Error()}
	}
	parts, err := messages(b)
	var deep *tooDeep
	if errors.As(err, &deep) && deep.answers(id) {
		return nil, answerError{&wireError{message: deep.Error()}}
	}
	if err == nil && len(parts) == 1 {
		if m, ok := scanMessage(parts[0]); ok {
			return answers(m, id), nil
		}
	}
	return nil, nil
}

// SendNotification implements transport.Interface.
func (t *eventSource) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if n.Method != "notifications/cancelled" {
		return t.tell(ctx, body)
	}
	t.giveUp(func(ctx context.Context) error { return t.tell(ctx, body) })
	return nil
}

func (t *eventSource) tell(ctx context.Context, body []byte) error {
	ctx, cancel := t.bound(ctx)
	defer cancel()
	_, err := t.send(ctx, body, "")
	return err
}

// GetSessionId implements transport.Interface.
func (t *eventSource) GetSessionId() string { return "" }

// Close implements transport.Interface.
func (t *eventSource) Close() error {
	t.close()
	return nil
}
