package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// resumes bounds how often one answer is taken up again where its stream ended.
const resumes = 20

// exchange posts a message and hands every message of the answer to got, until
// the one that a request waits for.
func (t *target) exchange(ctx context.Context, m message, sent func(), got func(message)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := t.open(ctx, m, sent)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return t.read(ctx, cancel, answer, m, got)
}

// read hands every message of an answer to got. cancel ends the request.
func (t *target) read(ctx context.Context, cancel context.CancelFunc, answer *http.Response, m message, got func(message)) error {
	if !m.request() {
		// Nothing is expected; what there is would keep the connection busy.
		_, _ = io.CopyN(io.Discard, answer.Body, 4<<10)
		return nil
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		raw, err := wholeBody(answer)
		if err != nil {
			return broken(ctx, err)
		}
		reply, err := newMessage(raw)
		if err != nil {
			return fmt.Errorf("read the companion's answer: %w", err)
		}
		got(reply)
		return nil
	case "text/event-stream":
		return t.follow(ctx, cancel, answer, m, got)
	}
	return fmt.Errorf("read the companion's answer: it is %q", kind)
}

// broken is the error of an answer that broke off.
func broken(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTooLong):
		return err
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return lost{err: fmt.Errorf("read the companion's answer: %w", err), reached: true}
}

func wholeBody(answer *http.Response) ([]byte, error) {
	if n := answer.ContentLength; n >= 0 && n <= maxAnswer {
		raw := make([]byte, n)
		_, err := io.ReadFull(answer.Body, raw)
		return raw, err
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = fmt.Errorf("%w: more than %d MiB", errTooLong, maxAnswer>>20)
	}
	return raw, err
}

// follow reads the stream of an answer to the response, and takes it up again
// where the companion ends it before.
func (t *target) follow(ctx context.Context, cancel context.CancelFunc, answer *http.Response, m message, got func(message)) error {
	body := answer.Body
	events := &eventReader{in: bufio.NewReaderSize(body, 64<<10)}
	for try := 0; ; try++ {
		err := t.events(events, func(reply message) bool {
			got(reply)
			return reply.method == "" && bytes.Equal(reply.id, m.id)
		})
		if err == nil {
			// Read to its end, the connection serves the next request.
			late := time.AfterFunc(drainTime, cancel)
			defer late.Stop()
			_, _ = io.Copy(io.Discard, io.LimitReader(events.in, 4<<10))
			return nil
		}
		if events.last == "" || m.version != "" || try == resumes || ctx.Err() != nil || !errors.Is(err, io.EOF) {
			return broken(ctx, err)
		}
		if err := pause(ctx, max(events.retry, 10*time.Millisecond)); err != nil {
			return err
		}
		next, err := t.stream(ctx, events.last)
		if err != nil {
			return broken(ctx, err)
		}
		defer next.Body.Close()
		events.in = bufio.NewReaderSize(next.Body, 64<<10)
	}
}

// events hands messages to got until it says that it was the last one.
func (t *target) events(events *eventReader, got func(message) (last bool)) error {
	for {
		raw, err := events.next()
		if err != nil {
			return err
		}
		m, err := newMessage(raw)
		if err != nil {
			return fmt.Errorf("read the companion's event: %w", err)
		}
		if got(m) {
			return nil
		}
	}
}

// errNoStream says that a companion sends nothing by itself.
var errNoStream = errors.New("the companion offers no stream of its own")

// stream opens the stream of what belongs to no answer, or takes up the one
// whose last event is given.
func (t *target) stream(ctx context.Context, last string) (*http.Response, error) {
	r, err := t.request(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	t.inSession(r)
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := t.client.Do(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, lost{err: reason(err)}
	case answer.StatusCode == http.StatusOK:
		return answer, nil
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusMethodNotAllowed {
		return nil, errNoStream
	}
	return nil, t.refusal(answer, message{}, t.session != "")
}
