package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// writeTime is how long a client may take for one write.
const writeTime = 30 * time.Second

// reply answers one request: with plain JSON, or with a stream of events once
// something has to be told before the answer. One goroutine uses it.
type reply struct {
	w       http.ResponseWriter
	control *http.ResponseController
	id      json.RawMessage
	modern  bool // the revision without sessions, whose errors have a status of their own
	streams bool // the client takes events
	begun   bool // events are being sent
	broken  bool // nothing more gets through
}

func newReply(w http.ResponseWriter, r *http.Request, id json.RawMessage) *reply {
	return &reply{w: w, control: http.NewResponseController(w), id: id, streams: accepts(r, "text/event-stream")}
}

// accepts reads the Accept header; without one everything is taken.
func accepts(r *http.Request, kind string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	main, _, _ := strings.Cut(kind, "/")
	for _, v := range values {
		for one := range strings.SplitSeq(v, ",") {
			name, _, _ := strings.Cut(one, ";")
			if slices.Contains([]string{kind, main + "/*", "*/*"}, strings.ToLower(strings.TrimSpace(name))) {
				return true
			}
		}
	}
	return false
}

// result sends the answer. raw is a JSON value.
func (p *reply) result(raw json.RawMessage) { p.finish(http.StatusOK, "result", raw) }

// fail sends an error as the answer.
func (p *reply) fail(e *rpcError) {
	out := strconv.AppendInt([]byte(`{"code":`), int64(e.code), 10)
	out = append(out, `,"message":`...)
	out = appendText(out, e.message)
	if e.data != nil {
		out = append(append(out, `,"data":`...), e.data...)
	}
	status := e.status
	switch {
	case status != 0:
	case p.modern:
		status = modernStatus(e.code)
	default:
		status = http.StatusOK
	}
	p.finish(status, "error", append(out, '}'))
}

// cut answers a request whose end nobody waited for. Where its token ended, the
// client is still there and has to learn of it. The status is none after which a
// client signs in and sends the request again: it had begun.
func (s *Server) cut(p *reply, r *http.Request) {
	if s.valid(r) {
		panic(http.ErrAbortHandler) // the companion ends: an empty answer would look like one
	}
	p.fail(&rpcError{code: codeInvalidRequest, status: http.StatusForbidden,
		message: "the call was ended, because the token of its client was revoked or has expired"})
}

func (p *reply) finish(status int, key string, raw []byte) {
	id := p.id
	if id == nil {
		id = json.RawMessage("null")
	}
	head := slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"`+key+`":`))
	p.deadline()
	if p.begun {
		p.event(head, raw, []byte("}"))
		return
	}
	h := p.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(head)+len(raw)+1))
	p.w.WriteHeader(status)
	if len(raw) < 4<<10 {
		p.write(slices.Concat(head, raw, []byte("}")))
		return
	}
	p.write(head)
	p.write(raw)
	p.write([]byte("}"))
}

// send tells the client something before the answer. It reports whether that
// was possible.
func (p *reply) send(text []byte) bool {
	if !p.streams || p.broken {
		return false
	}
	p.deadline()
	if !p.begun {
		p.begin()
	}
	p.event(text)
	return !p.broken
}

// begin turns the answer into a stream of events.
func (p *reply) begin() {
	p.begun = true
	h := p.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	p.w.WriteHeader(http.StatusOK)
}

// beat shows an open stream that it still lives.
func (p *reply) beat() {
	if p.begun {
		p.deadline()
		p.write([]byte(": \n\n"))
		p.flush()
	}
}

func (p *reply) event(parts ...[]byte) {
	p.write([]byte("event: message\ndata: "))
	for _, part := range parts {
		p.write(oneLine(part))
	}
	p.write([]byte("\n\n"))
	p.flush()
}

// oneLine is JSON without the line ends between its parts, which would end a
// line of the event. Inside texts they are escaped.
func oneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := bytes.Clone(raw)
	for i, c := range out {
		if c == '\n' || c == '\r' {
			out[i] = ' '
		}
	}
	return out
}

func (p *reply) write(b []byte) {
	if p.broken {
		return
	}
	if _, err := p.w.Write(b); err != nil {
		p.broken = true
	}
}

func (p *reply) flush() {
	if err := p.control.Flush(); err != nil {
		p.broken = true
	}
}

// deadline gives the client time for the next write.
func (p *reply) deadline() {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime))
}
