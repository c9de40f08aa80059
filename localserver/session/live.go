package session

import (
	"strings"
	"sync"
)

// maxHeld bounds what is held back of one stream, in bytes.
const maxHeld = 4 << 10

// wordwise passes a stream on in whole words, so that a secret that arrives in
// two pieces is seen whole by what redacts it. The last word waits for what
// follows; it is in the result of the call in any case.
type wordwise struct {
	emit func(stream, text string)

	mu   sync.Mutex
	held map[string]string
}

func newWordwise(emit func(stream, text string)) *wordwise {
	return &wordwise{emit: emit}
}

func (w *wordwise) write(stream, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = w.held[stream] + text
	cut := strings.LastIndexAny(text, " \n\r\t") + 1
	if len(text)-cut > maxHeld {
		cut = len(text) // no secret is that long
	}
	if w.held == nil {
		w.held = map[string]string{}
	}
	w.held[stream] = text[cut:]
	if cut > 0 {
		w.emit(stream, text[:cut])
	}
}

// maxOutput bounds what is kept of the output of a running call for clients
// that come late, in bytes.
const maxOutput = 64 << 10

// Piece is a part of what a call printed.
type Piece struct {
	Stream string `json:"stream"`
	Text   string `json:"text"`
}

// output is the end of what a running call has printed.
type output struct {
	pieces []Piece
	kept   int
	end    int64 // bytes printed in all
}

// add takes a piece and returns how many bytes were printed before it.
func (o *output) add(p Piece) int64 {
	at := o.end
	o.pieces = append(o.pieces, p)
	o.kept += len(p.Text)
	o.end += int64(len(p.Text))
	for o.kept > maxOutput && len(o.pieces) > 1 {
		o.kept -= len(o.pieces[0].Text)
		o.pieces = o.pieces[1:]
	}
	return at
}

// printed keeps a piece of a call's output and returns its place.
func (s *Session) printed(call string, p Piece) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.calls[call]
	if !ok || c.out.Status.Ended() {
		return 0
	}
	return c.output.add(p)
}
