package guard

import (
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of the server. Header sizes are bytes.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 16<<10 - headerSlop
	// headerSlop is what net/http reads beyond MaxHeaderBytes.
	headerSlop = 4 << 10
	// MaxConns is the default number of connections that are open at a time.
	MaxConns = 256
)

// Server returns an http.Server for the guarded handler with the limits that
// the zero value of net/http lacks. It has no write timeout, which would end
// event streams; those set their own deadlines. Errors of the server itself go
// to l (nil: slog.Default()) after redact (nil: as they are).
func Server(h http.Handler, l *slog.Logger, redact func(string) string) *http.Server {
	if l == nil {
		l = slog.Default()
	}
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(logWriter{l, redact}, "", 0),
		// net/http would answer OPTIONS * before the guard sees it.
		DisableGeneralOptionsHandler: true,
	}
}

type logWriter struct {
	l      *slog.Logger
	redact func(string) string
}

func (w logWriter) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	if w.redact != nil {
		text = w.redact(text)
	}
	w.l.Warn("http server", "text", text)
	return len(p), nil
}

// Limit wraps ln so that at most max connections (0: MaxConns) are open at a
// time, and sets srv.ConnState to follow them. When the limit is reached a new
// connection takes the place of the one that has been waiting longest without
// a complete request, so sockets that send nothing, or one byte in a while,
// cannot keep others out. When every connection is busy the new one is closed.
func Limit(ln net.Listener, srv *http.Server, max int) net.Listener {
	if max <= 0 {
		max = MaxConns
	}
	l := &limited{Listener: ln, max: max, conns: map[net.Conn]*connState{}}
	next := srv.ConnState
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		l.follow(c, s)
		if next != nil {
			next(c, s)
		}
	}
	return l
}

type limited struct {
	net.Listener
	max int

	mu    sync.Mutex
	conns map[net.Conn]*connState
	count uint64
}

type connState struct {
	busy  bool
	since uint64 // order in which it began to wait
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.admit(c) {
			return c, nil
		}
		c.Close()
	}
}

func (l *limited) admit(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.max {
		var oldest net.Conn
		for o, s := range l.conns {
			if !s.busy && (oldest == nil || s.since < l.conns[oldest].since) {
				oldest = o
			}
		}
		if oldest == nil {
			return false
		}
		delete(l.conns, oldest)
		oldest.Close()
	}
	l.count++
	l.conns[c] = &connState{since: l.count}
	return true
}

func (l *limited) follow(c net.Conn, s http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s {
	case http.StateActive, http.StateIdle:
		if e := l.conns[c]; e != nil {
			l.count++
			e.busy, e.since = s == http.StateActive, l.count
		}
	case http.StateClosed, http.StateHijacked:
		delete(l.conns, c)
	}
}
