package mcpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// stream reads the events that answer a request. A stream that breaks is taken
// up again where the server numbered its events.
func (t *streamable) stream(ctx, rctx context.Context, abort func(), body io.Reader, id string) (*transport.JSONRPCResponse, error) {
	var at position
	r, err := t.events(ctx, abort, body, id, &at)
	for fruitless := 0; r == nil && errors.Is(err, errStreamOver); {
		if at.last == "" || fruitless >= maxFruitless || t.modern() {
			return nil, t.interrupted(ctx, at.why)
		}
		if !pause(ctx, at.wait(0)) {
			return nil, ctx.Err()
		}
		before := at.count
		var resp *http.Response
		if resp, err = t.resume(rctx, at.last, true); err == nil {
			r, err = t.events(ctx, abort, resp.Body, id, &at)
			resp.Body.Close()
		} else if ctx.Err() == nil && restartableWire(err) {
			at.why, err = err, errStreamOver
		}
		if fruitless++; at.count > before {
			fruitless = 0
		}
	}
	return r, err
}

// maxFruitless is how often a stream is taken up again without an event of it.
const maxFruitless = 5

func restartableWire(err error) bool {
	var w *wireError
	return errors.As(err, &w) && w.again
}

// events reads one stream until it holds the answer to id, or ends: then
// errStreamOver, with the reason in at. abort ends the exchange that body
// belongs to; ctx is that of the call.
func (t *streamable) events(ctx context.Context, abort func(), body io.Reader, id string, at *position) (*transport.JSONRPCResponse, error) {
	reader := &eventReader{from: body, limit: t.limit}
	var long error
	for {
		e, err := reader.next()
		var o *oversized
		var never *endless
		switch {
		case errors.As(err, &o):
			if id != "" && long == nil && !methodFirst.Match(o.head) {
				long = answerError{&wireError{message: o.Error()}}
				timer := time.AfterFunc(lateGrace, abort)
				defer timer.Stop()
			}
			t.log("an event of the server was thrown away: " + o.Error())
			continue
		case err != nil && long != nil:
			return nil, long
		case errors.As(err, &never):
			// It belongs to no call that could fail of it.
			t.lost(never)
			return nil, never
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			if errors.Is(err, io.EOF) {
				err = errors.New("the stream of events ended")
			}
			at.why = err
			return nil, errStreamOver
		}
		at.passed(e)
		if r, err := t.event(ctx, e, id); r != nil || err != nil {
			t.doubt.Store(false)
			return r, err
		}
	}
}

// event delivers what one event holds; the answer to id is returned, or why it
// cannot be used.
func (t *streamable) event(ctx context.Context, e event, id string) (found *transport.JSONRPCResponse, err error) {
	if len(e.data) == 0 || e.name != "" && e.name != "message" {
		return nil, nil
	}
	parts, err := messages(e.data)
	if err != nil {
		t.log("an event of the server was thrown away: " + err.Error())
		var deep *tooDeep
		if errors.As(err, &deep) && id != "" && deep.answers(id) {
			return nil, answerError{&wireError{message: deep.Error()}}
		}
		return nil, nil
	}
	for _, raw := range parts {
		m, _ := scanMessage(raw)
		if r := answers(m, id); r != nil && id != "" {
			found = r
			continue
		}
		t.deliver(ctx, m, raw, t.reply)
	}
	return found, nil
}
