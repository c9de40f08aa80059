package events

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// got is one event as a client reads it, by the rules of the HTML standard
// (9.2.6): CR, LF and CRLF end a line.
type got struct{ id, kind, data, comment string }

type client struct {
	resp  *http.Response
	r     *bufio.Reader
	lines []string // read and split at CR, not yet looked at
}

func serve(t testing.TB, h *Hub) string {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return ts.URL
}

func connect(t testing.TB, url, last string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("GET = %d %v", resp.StatusCode, resp.Header)
	}
	return &client{resp: resp, r: bufio.NewReader(resp.Body)}
}

func (c *client) next() (got, error) {
	var e got
	var data []string
	for {
		line, err := c.line()
		if err != nil {
			return e, err
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			e.data = strings.Join(data, "\n")
			return e, nil
		case name == "id":
			e.id = value
		case name == "event":
			e.kind = value
		case name == "data":
			data = append(data, value)
		case name == "":
			e.comment = value
		}
	}
}

func (c *client) line() (string, error) {
	if len(c.lines) == 0 {
		text, err := c.r.ReadString('\n')
		if err != nil {
			return "", err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		c.lines = strings.Split(text, "\r")
	}
	line := c.lines[0]
	c.lines = c.lines[1:]
	return line, nil
}

func (c *client) want(t testing.TB, kind string) got {
	t.Helper()
	e, err := c.next()
	for kind != "" && err == nil && e.comment != "" {
		e, err = c.next() // a heartbeat, on a machine that is busy
	}
	if err != nil || e.kind != kind {
		t.Fatalf("next event = %+v, %v, want %q", e, err, kind)
	}
	return e
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
