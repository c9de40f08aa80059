package mcpserver

import (
	"net/http"
	"time"
)

// beatTime is the time between two signs of life on a silent stream.
const beatTime = 15 * time.Second

// maxStreams bounds how many streams one client holds open.
const maxStreams = 8

// toolsChanged is told to clients that listen.
const toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

const methodToolsChanged = "notifications/tools/list_changed"

// stream is one open stream of a client, for what belongs to no request.
type stream struct {
	out   chan string
	gone  chan struct{}   // closed when the client is taken out
	wants map[string]bool // methods that were subscribed to; nil: every one
}

// offer puts a notification on the stream, and reports whether it takes it. One
// that does not keep up misses it.
func (t *stream) offer(method, text string) bool {
	if t.wants != nil && !t.wants[method] {
		return false
	}
	select {
	case t.out <- text:
		return true
	default:
		return false
	}
}

// close ends the stream. Called with Server.mu held, once.
func (t *stream) close() {
	select {
	case <-t.gone:
	default:
		close(t.gone)
	}
}

// listen enters a stream for what is wanted (nil: everything); the caller ends it
// with the returned function.
func (s *Server) listen(c *client, wants map[string]bool) (st *stream, leave func(), failed *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.clients[c.key] != c:
		return nil, nil, &rpcError{code: codeInvalidRequest, status: http.StatusNotFound, message: "there is no such session; initialize again"}
	case len(c.streams) >= maxStreams:
		return nil, nil, &rpcError{code: codeInvalidRequest, status: http.StatusConflict, message: "too many streams are open in this session"}
	}
	st = &stream{out: make(chan string, 64), gone: make(chan struct{}), wants: wants}
	c.streams[st] = struct{}{}
	return st, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(c.streams, st)
		c.used = s.config.Now()
	}, nil
}

// stream serves GET: what belongs to no request.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	p := newReply(w, r, nil)
	c, failed := s.find(r)
	if failed == nil && !p.streams {
		failed = &rpcError{code: codeInvalidRequest, status: http.StatusNotAcceptable, message: "a stream is sent as text/event-stream, which the header Accept leaves out"}
	}
	if failed != nil {
		p.fail(failed)
		return
	}
	st, leave, failed := s.listen(c, nil)
	if failed != nil {
		p.fail(failed)
		return
	}
	defer leave()
	p.begin()
	p.beat()
	s.follow(p, r, st, func(text string) []byte { return []byte(text) })
}

// follow sends what comes on a stream until either side ends.
func (s *Server) follow(p *reply, r *http.Request, st *stream, form func(string) []byte) {
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	for !p.broken {
		select {
		case text := <-st.out:
			p.send(form(text))
		case <-beat.C:
			p.beat()
		case <-st.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}
