package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// begin opens the client's session.
func (b *stdioBridge) begin(ctx context.Context, m message) {
	old := b.link.current()
	for attempt := 1; ; attempt++ {
		t, err := b.link.connect(ctx)
		if err != nil {
			b.out.send(refused(m.id, err))
			return
		}
		next, reply, err := t.with("", "").initialize(ctx, m, func(m message) { b.out.send(m.raw) })
		if again, ok := b.again(err, attempt); ok {
			if _, err = b.link.renew(ctx, t, again, true); err == nil {
				continue
			}
		}
		if err != nil {
			b.out.send(refused(m.id, err))
			return
		}
		if next.version != "" {
			b.link.began(next, m)
			b.mu.Lock()
			b.lists = changing(reply.raw)
			b.mu.Unlock()
			if old != nil && old.session != "" {
				old.end(ctx)
			}
		}
		b.out.send(reply.raw)
		return
	}
}

// changing are the notifications with which a companion that answered so says
// that its lists have changed.
func changing(reply []byte) []string {
	var r struct {
		Result struct {
			Capabilities map[string]json.RawMessage `json:"capabilities"`
		} `json:"result"`
	}
	if json.Unmarshal(reply, &r) != nil {
		return nil
	}
	var out []string
	for _, kind := range []string{"tools", "prompts", "resources"} {
		var c struct {
			ListChanged bool `json:"listChanged"`
		}
		if json.Unmarshal(r.Result.Capabilities[kind], &c) == nil && c.ListChanged {
			out = append(out, "notifications/"+kind+"/list_changed")
		}
	}
	return out
}

// again reports whether a request that failed can be tried once more with
// another session.
func (b *stdioBridge) again(err error, attempt int) (lost, bool) {
	var l lost
	if !errors.As(err, &l) || attempt >= maxAttempts {
		return l, false
	}
	select {
	case <-b.leaving:
		return l, false
	default:
		return l, true
	}
}

// ready opens the stream of what the companion says by itself.
func (b *stdioBridge) ready(now, late context.Context, m message) {
	b.link.ready(m)
	b.tell(now, m)
	b.stream.Do(func() { b.streams.Go(func() { b.listen(late) }) })
}

// tell posts what has no answer. A response goes to nobody but the session
// that asked.
func (b *stdioBridge) tell(ctx context.Context, m message) {
	t := b.link.current()
	if m.id != nil {
		b.mu.Lock()
		t = b.asked[string(m.id)]
		delete(b.asked, string(m.id))
		b.mu.Unlock()
		if t == nil || t != b.link.current() {
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	err := t.exchange(ctx, m, func() {}, nothing)
	l, ok := b.again(err, 1)
	if !ok || m.id != nil {
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintf(b.log, "zeroclaw: send %s: %s\n", oneLine(m.method), oneLine(err.Error()))
		}
		return
	}
	// A new session begins with what was told before; whatever else there was to
	// tell was about the old one.
	_, _ = b.link.renew(ctx, t, l, false)
}

// cancelled takes back a request.
func (b *stdioBridge) cancelled(ctx context.Context, m message) {
	b.mu.Lock()
	f := b.running[string(m.cancels)]
	if f != nil {
		f.cancelled = true
	}
	b.mu.Unlock()
	switch {
	case f == nil:
		b.work.Go(func() { b.tell(ctx, m) })
	case f.modern: // the end of the request is how it is told
		f.cancel()
	default:
		b.work.Go(func() {
			select {
			case <-f.sent: // before, nobody would know what is meant
			case <-ctx.Done():
			}
			// The two go on connections of their own, so that the request may come
			// second; then nobody knew what was meant, and hears it once more.
			for _, d := range []time.Duration{cancelTime / 50, cancelTime / 5, cancelTime} {
				b.tell(ctx, m)
				if f.endedWithin(d) {
					return
				}
			}
			f.cancel()
		})
	}
}

// renewed says what a client cannot know of a session that began without it.
func (b *stdioBridge) renewed(old *target) {
	b.mu.Lock()
	var open []string
	for id, t := range b.asked {
		if t == old {
			open = append(open, id)
			delete(b.asked, id)
		}
	}
	lists := b.lists
	b.mu.Unlock()
	fmt.Fprintln(b.log, "zeroclaw: the companion knows the session no more; it goes on in a new one")
	for _, id := range open {
		b.out.send(notification("notifications/cancelled", map[string]any{"requestId": json.RawMessage(id), "reason": "the companion was started anew"}))
	}
	for _, method := range lists {
		b.out.send(notification(method, nil))
	}
}
