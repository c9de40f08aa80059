//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// openTabs follows the event stream like n pages until ctx is done, of which the
// first answers questions and the last never reads. It returns once all hear.
func (s *soak) openTabs(ctx context.Context, n int) (closed *sync.WaitGroup) {
	closed = &sync.WaitGroup{}
	var hear sync.WaitGroup
	for i := range n {
		if i == n-1 {
			closed.Go(func() { s.stall(ctx) })
			continue
		}
		t := &soakTab{soak: s, answers: i == 0}
		hear.Add(1)
		t.hello = sync.OnceFunc(hear.Done)
		closed.Go(func() { t.follow(ctx) })
	}
	hear.Wait()
	return closed
}

// soakTab is a page that misses no event.
type soakTab struct {
	*soak
	answers bool
	hello   func()
	last    uint64 // number of the last event, 0 = none
	asked   sync.WaitGroup
}

func (t *soakTab) follow(ctx context.Context) {
	defer t.asked.Wait()
	for ctx.Err() == nil {
		if err := t.connection(ctx); ctx.Err() == nil {
			t.cutOff.Add(1) // it did not keep up, and catches up now
			if err != nil && !errors.Is(err, errCut) {
				t.failed("a tab: %v", err)
			}
		}
		t.hello()
	}
}

var errCut = errors.New("the stream ended")

func (t *soakTab) connection(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url+"/api/events", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+t.Token)
	if t.last > 0 {
		r.Header.Set("Last-Event-ID", strconv.FormatUint(t.last, 10))
	}
	w, err := t.http.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if w.StatusCode != http.StatusOK {
		return fmt.Errorf("the event stream answers %d", w.StatusCode)
	}
	var kind, data string
	var id uint64
	for lines := bufio.NewReader(w.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return errCut
		}
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		switch name {
		case "id":
			id, _ = strconv.ParseUint(value, 10, 64)
		case "event":
			kind = value
		case "data":
			data += value
		case "":
			if kind != "" {
				t.event(id, kind, data)
			}
			kind, data = "", ""
		}
	}
}

func (t *soakTab) event(id uint64, kind, data string) {
	switch {
	case kind == "hello":
		if t.last == 0 {
			t.last = id
		}
		t.hello()
		return
	case kind == "resync":
		t.failed("a tab that reads fell behind what is kept")
	case id != t.last+1:
		t.failed("a tab gets event %d after %d", id, t.last)
	}
	t.last = id
	t.events.Add(1)
	if !t.answers || kind != "question.asked" {
		return
	}
	var q struct {
		Approval struct {
			ID        string
			Arguments struct{ A int }
		}
	}
	if err := json.Unmarshal([]byte(data), &q); err != nil {
		t.failed("a question: %v", err)
		return
	}
	answer := map[string]string{"decision": "once"}
	switch {
	case q.Approval.Arguments.A < 0: // left open
		return
	case q.Approval.Arguments.A%2 == 1:
		answer = map[string]string{"decision": "deny", "reason": soakReason}
	}
	t.asked.Go(func() {
		if err := t.Do(context.Background(), "POST", "/api/approvals/"+q.Approval.ID, answer, nil); err != nil {
			t.failed("an answer: %v", err)
		}
	})
}

// soakReason is what the page says no with.
const soakReason = "odd numbers are not added"

// stall opens the event stream anew every 15 seconds and reads nothing of it.
func (s *soak) stall(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := net.Dial("tcp4", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			s.failed("the tab that does not read: %v", err)
			return
		}
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := fmt.Fprintf(c, "GET /api/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", strings.TrimPrefix(s.url, "http://"), s.Token); err != nil {
			s.failed("the tab that does not read: %v", err)
		}
		select {
		case <-time.After(15 * time.Second):
		case <-ctx.Done():
		}
		c.Close()
	}
}
