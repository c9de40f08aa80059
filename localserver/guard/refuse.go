package guard

import (
	"io"
	"net/http"
	"time"
)

// A client that writes all of its body before it reads would never see why it
// was refused: closing a connection with bytes unread throws the answer away.
// So the rest is read and dropped, but nobody may hold a connection that way.
// It has to come at the speed of a local client, and ends.
const (
	refusedTimeout = 500 * time.Millisecond // for each piece
	refusedPiece   = 4 << 20
	maxRefused     = 64 << 20
)

// refuse answers with e. When a body was announced the connection ends with
// the answer.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, e *Error) {
	if a, ok := w.(*answer); ok && r.ContentLength != 0 {
		a.refuse()
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	WriteError(w, e)
}

// answer remembers whether the answer has begun, and whether it refuses a body
// that was not read.
type answer struct {
	http.ResponseWriter
	body    io.Reader
	wrote   bool
	refused bool
}

func (a *answer) refuse() {
	a.refused = true
	a.Header().Set("Connection", "close")
}

func (a *answer) WriteHeader(status int) {
	if status == http.StatusRequestEntityTooLarge && !a.wrote {
		a.refuse()
	}
	a.wrote = a.wrote || status >= 200
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.wrote = true
	return a.ResponseWriter.Write(p)
}

// drain reads what is left of a body that was refused.
func (a *answer) drain() {
	if !a.refused {
		return
	}
	rc := http.NewResponseController(a.ResponseWriter)
	if rc.Flush() != nil {
		return
	}
	for n := 0; n < maxRefused; n += refusedPiece {
		// A writer without deadlines could be held for ever.
		if rc.SetReadDeadline(time.Now().Add(refusedTimeout)) != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, a.body, refusedPiece); err != nil {
			return
		}
	}
}

// Flush serves those who ask for an http.Flusher; Unwrap serves
// http.ResponseController.
func (a *answer) Flush() {
	a.wrote = true
	http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap returns the writer of net/http.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
