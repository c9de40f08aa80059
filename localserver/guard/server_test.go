package guard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// Case H074: 200 sockets that send a header byte by byte are closed in time
// and a normal request is answered meanwhile. The short run has a short
// header timeout; ZEROCLAW_LONG=1 uses the real one.
func TestSlowloris(t *testing.T) {
	limit, every := 3*time.Second, 100*time.Millisecond
	if os.Getenv("ZEROCLAW_LONG") == "1" {
		limit, every = readHeaderTimeout, 5*time.Second
	}
	for _, sockets := range []int{200, 600} {
		g := start(t, "", func(s *http.Server) { s.ReadHeaderTimeout = limit })
		var conns []net.Conn
		closed := make(chan time.Duration, sockets)
		begin := time.Now()
		for range sockets {
			c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.port))
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			go func() {
				text := "GET /api/status HTTP/1.1\r\nX-Slow: " + strings.Repeat("a", 1000)
				for i := range text {
					if _, err := c.Write([]byte{text[i]}); err != nil {
						break
					}
					time.Sleep(every)
				}
				closed <- time.Since(begin)
			}()
		}
		ask := time.Now()
		resp, _ := g.ask(t, "GET", "/api/status", []string{auth}, "")
		if d := time.Since(ask); resp.StatusCode != 200 || d > limit*2/3 {
			t.Errorf("with %d slow sockets a normal request = %d after %v", sockets, resp.StatusCode, d)
		}
		for range sockets {
			select {
			case <-closed:
			case <-time.After(3*limit + 2*every):
				t.Fatalf("with %d sockets, some are still open after %v", sockets, time.Since(begin))
			}
		}
		for _, c := range conns {
			c.Close()
		}
	}
}

func TestBusyConnectionsAreKept(t *testing.T) {
	hold := make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		http.NewResponseController(w).Flush()
		<-hold
		io.WriteString(w, "done")
	})}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := Limit(inner, srv, 2)
	go srv.Serve(ln)
	defer srv.Close()
	get := func() (*http.Response, error) {
		return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + inner.Addr().String())
	}
	a, err := get()
	if err != nil {
		t.Fatal(err)
	}
	b, err := get()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := get(); err == nil {
		c.Body.Close()
		t.Error("a third connection was taken though two are busy")
	}
	close(hold)
	for _, r := range []*http.Response{a, b} {
		if text, err := io.ReadAll(r.Body); err != nil || string(text) != "done" {
			t.Errorf("a busy connection got %q, %v", text, err)
		}
		r.Body.Close()
	}
	deadline := time.Now().Add(2 * time.Second)
	for {
		d, err := get()
		if err == nil {
			d.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no connection is taken after the others ended: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestSizes(t *testing.T) {
	g := start(t, "", nil)
	big := `{"tool":"` + strings.Repeat("a", MaxJSON) + `"}`
	for _, tt := range []struct {
		name, target string
		headers      []string
		body         string
		want         int
	}{
		{"json", "/api/sessions/s/calls", []string{auth, js}, big, 413},
		{"json at the limit", "/api/sessions/s/calls", []string{auth, js}, `{"tool":"` + strings.Repeat("a", MaxJSON-11) + `"}`, 200},
		{"upload", "/api/files", []string{auth}, strings.Repeat("a", 5<<20), 200},
	} {
		if resp, body := g.ask(t, "POST", tt.target, tt.headers, tt.body); resp.StatusCode != tt.want {
			t.Errorf("%s = %d %s, want %d", tt.name, resp.StatusCode, body, tt.want)
		}
	}
	// Without a length the limit holds while reading.
	host := fmt.Sprintf("Host: 127.0.0.1:%d\r\n", g.port)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat("a", 1<<20))
	for path, n := range map[string]int{"/api/sessions/s/calls": 5, "/api/files": 33, "/llm/p/messages": 33} {
		resp, body := g.raw(t, "POST "+path+" HTTP/1.1\r\n"+host+auth+"\r\n"+js+"\r\nTransfer-Encoding: chunked\r\n\r\n"+
			strings.Repeat(chunk, n)+"0\r\n\r\n", "POST")
		if resp.StatusCode != 413 || !strings.Contains(body, "too_large") {
			t.Errorf("%d MiB in chunks to %s = %d %s, want 413", n, path, resp.StatusCode, body)
		}
	}
	for n, want := range map[int]int{15 << 10: 200, 17 << 10: 431, 30 << 10: 431} {
		if resp, _ := g.ask(t, "GET", "/api/status", []string{auth, "X-Pad: " + strings.Repeat("a", n)}, ""); resp.StatusCode != want {
			t.Errorf("%d bytes of headers = %d, want %d", n, resp.StatusCode, want)
		}
	}
}

func TestSlowBodyEnds(t *testing.T) {
	routes := []Route{{"POST", "/api/x", None, JSON, 0, http.NotFoundHandler(), nil}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	srv := Server(New(Config{Port: port, BodyTimeout: 100 * time.Millisecond}, routes), nil, nil)
	go srv.Serve(ln)
	defer srv.Close()
	g := &rig{port: port}
	resp, body := g.raw(t, fmt.Sprintf("POST /api/x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\nContent-Length: 10\r\n\r\n{", port, js), "POST")
	if resp.StatusCode != 408 {
		t.Errorf("a body that stops = %d %s, want 408", resp.StatusCode, body)
	}
}

// TestStalledUploadEnds: a body that is handed over unread may take long as a
// whole, but not stand still.
func TestStalledUploadEnds(t *testing.T) {
	read := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			WriteError(w, fmt.Errorf("reading: %w", err))
			return
		}
		WriteJSON(w, http.StatusOK, len(text))
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := ln.Addr().String()
	srv := Server(New(Config{Port: ln.Addr().(*net.TCPAddr).Port, PieceTimeout: time.Second},
		[]Route{{"POST", "/api/x", None, Upload, 0, read, nil}}), nil, nil)
	go srv.Serve(ln)
	defer srv.Close()
	for pieces, want := range map[int]int{6: 200, 1: 408} {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /api/x HTTP/1.1\r\nHost: %s\r\nContent-Length: 6\r\n\r\n", host)
		for range pieces {
			io.WriteString(conn, "x")
			time.Sleep(250 * time.Millisecond)
		}
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("after %d of 6 pieces: %v", pieces, err)
		}
		if resp.StatusCode != want {
			t.Errorf("after %d of 6 pieces = %d, want %d", pieces, resp.StatusCode, want)
		}
	}
}

// TestHoldingOn fills every connection with requests that are refused, or that
// need no token, and whose bodies never end. Others must get in all the same.
func TestHoldingOn(t *testing.T) {
	for name, head := range map[string]string{
		"refused":  "POST /api/sessions/s1/calls HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"no token": "POST /api/pair HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t, "", nil)
			text := head
			if strings.Contains(head, "%d") {
				text = fmt.Sprintf(head, g.port)
			}
			var conns []net.Conn
			defer func() {
				for _, c := range conns {
					c.Close()
				}
			}()
			for range MaxConns + 44 {
				c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.port))
				if err != nil {
					t.Fatal(err)
				}
				conns = append(conns, c)
				if _, err := c.Write([]byte(text)); err != nil {
					break // already turned away
				}
			}
			for end := time.Now().Add(2*strangerTimeout + 2*time.Second); ; time.Sleep(50 * time.Millisecond) {
				a, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", g.port))
				if err == nil {
					a.Body.Close()
					return
				}
				if time.Now().After(end) {
					t.Fatalf("nobody gets in: %v", err)
				}
			}
		})
	}
}
