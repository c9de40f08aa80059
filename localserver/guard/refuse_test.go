package guard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// writeThenRead is a client that sends everything before it looks at the
// answer, as many HTTP libraries do.
func (g *rig) writeThenRead(t *testing.T, head string, body io.Reader) (int, string, error) {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(c, io.MultiReader(strings.NewReader(head), body)); err != nil {
		return 0, "", fmt.Errorf("write: %w", err)
	}
	a, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: "POST"})
	if err != nil {
		return 0, "", fmt.Errorf("read: %w", err)
	}
	text, err := io.ReadAll(a.Body)
	return a.StatusCode, string(text), err
}

// TestRefusalArrives: whoever sends a large body and then reads gets the
// sentence, whatever the body was refused for, and the connection ends.
func TestRefusalArrives(t *testing.T) {
	const size = 40 << 20
	g := start(t, "", nil)
	length := fmt.Sprintf("Content-Length: %d\r\n", size)
	for _, c := range []struct {
		name, path, headers string
		status              int
		code                string
	}{
		{"larger than JSON may be", "/api/sessions/s/calls", auth + "\r\n" + js + "\r\n" + length, 413, "too_large"},
		{"larger than an upload may be", "/api/files", auth + "\r\n" + length, 413, "too_large"},
		{"larger than JSON may be, in chunks", "/api/sessions/s/calls", auth + "\r\n" + js + "\r\nTransfer-Encoding: chunked\r\n", 413, "too_large"},
		{"larger than an upload may be, in chunks", "/api/files", auth + "\r\nTransfer-Encoding: chunked\r\n", 413, "too_large"},
		{"larger than the relay takes, in chunks", "/llm/p/messages", auth + "\r\nTransfer-Encoding: chunked\r\n", 413, "too_large"},
		{"no token", "/api/files", "Content-Length: 4000000\r\n", 401, "unauthorized"},
		{"wrong type", "/api/sessions/s/calls", auth + "\r\nContent-Type: text/plain\r\nContent-Length: 4000000\r\n", 415, "wrong_content_type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := int64(size)
			if strings.Contains(c.headers, "4000000") {
				n = 4_000_000
			}
			var body io.Reader = io.LimitReader(endless{}, n)
			if strings.Contains(c.headers, "chunked") {
				body = strings.NewReader(strings.Repeat(fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat("a", 1<<20)), size>>20) + "0\r\n\r\n")
			}
			status, text, err := g.writeThenRead(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", c.path, g.port, c.headers), body)
			if err != nil || status != c.status || !strings.Contains(text, c.code) {
				t.Errorf("the client gets %d %s, %v; want %d %s", status, text, err, c.status, c.code)
			}
		})
	}
}

// TestRefusalIsBounded: neither a body that goes on for ever nor one that
// trickles holds the connection.
func TestRefusalIsBounded(t *testing.T) {
	g := start(t, "", nil)
	for name, pause := range map[string]time.Duration{"endless": 0, "trickling": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.port))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(20 * time.Second))
			fmt.Fprintf(c, "POST /api/files HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\nContent-Length: %d\r\n\r\n", g.port, auth, int64(1)<<50)
			began := time.Now()
			for buf := make([]byte, 1<<20); err == nil; time.Sleep(pause) {
				if pause > 0 {
					buf = buf[:1]
				}
				_, err = c.Write(buf)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the connection was held for %v", took)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}
