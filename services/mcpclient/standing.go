package mcpclient

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	firstRetry = time.Second
	minRetry   = 50 * time.Millisecond
	maxRetry   = 30 * time.Second
	// maxServerRetry bounds the time that a server asks to wait.
	maxServerRetry = 5 * time.Minute
	// livedLong is when a stream counts as one that worked: the next try comes
	// soon.
	livedLong = 5 * time.Second
	// openTime is how long a server is waited for to open its stream.
	openTime = time.Second
)

// errStreamOver says that a stream of events ended before what was awaited.
var errStreamOver = errors.New("the stream of events ended")

// position is how far a stream was read.
type position struct {
	last  string        // the id of the last event that had one
	retry time.Duration // as the server asked, 0 = it did not
	count int           // events
	why   error         // why it ended
}

func (p *position) passed(e event) {
	p.count++
	if e.hasID {
		p.last = e.id
	}
	if e.retry > 0 {
		p.retry = e.retry
	}
}

// wait is the time before the next try after failures in a row.
func (p *position) wait(failures int) time.Duration {
	if p.retry > 0 {
		return min(max(p.retry, minRetry), maxServerRetry)
	}
	d := firstRetry
	for range min(failures, 10) {
		d *= 2
	}
	return min(d, maxRetry)
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// resume asks for a stream of the server's own messages, from the event after
// last ("" = from now). again says that the server had one before.
func (t *streamable) resume(ctx context.Context, last string, again bool) (*http.Response, error) {
	headers, session := t.protocol(nil)
	if last != "" {
		headers.Set(mcp.HeaderLastEventID, last)
	}
	resp, err := t.do(ctx, http.MethodGet, t.url, typeSSE, nil, headers)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		details, refusal := t.refusal(resp)
		if !again {
			// A server without such a stream may say 404, too.
			return nil, refusal
		}
		if _, err := t.refused(resp.StatusCode, session, details, refusal); err != nil {
			return nil, err
		}
		return nil, refusal
	}
	if mediaType(resp) != typeSSE {
		resp.Body.Close()
		return nil, wrongType(resp)
	}
	return resp, nil
}

// listen keeps the standing stream of revisions with a session open, on which a
// server sends requests and changes of its lists. A server that offers none is
// left alone; one that closes it, as proxies do when nothing happens, is asked
// again. listen returns when the first try is decided, or soon: what a server
// asks before the stream is there is lost.
func (t *streamable) listen(ctx context.Context, missed func()) {
	decided := make(chan struct{})
	decide := sync.OnceFunc(func() { close(decided) })
	defer func() {
		select {
		case <-decided:
		case <-time.After(openTime):
		case <-ctx.Done():
		}
	}()
	t.work.Go(func() {
		defer decide()
		var at position
		for failures, opened := 0, 0; ; {
			began := time.Now()
			rctx, abort := context.WithCancel(t.ctx)
			resp, err := t.resume(rctx, at.last, opened > 0)
			decide()
			if err == nil {
				if t.doubt.Store(false); opened > 0 && at.last == "" {
					missed()
				}
				opened++
				_, err = t.events(t.ctx, abort, resp.Body, "", &at)
				resp.Body.Close()
			}
			abort()
			var refusal *wireError
			var lost *sessionLost
			var never *endless
			switch {
			case t.ctx.Err() != nil, errors.As(err, &lost), errors.As(err, &never):
				return
			case errors.As(err, &refusal) && refusal.status != 0 && !refusal.again:
				if refusal.status != http.StatusMethodNotAllowed && refusal.status != http.StatusNotFound {
					t.log("its stream of messages cannot be opened: " + refusal.Error())
				}
				return
			}
			if opened > 0 {
				t.doubt.Store(true)
			}
			if failures++; time.Since(began) > livedLong {
				failures = 0
			}
			if !pause(t.ctx, at.wait(failures)) {
				return
			}
		}
	})
}
