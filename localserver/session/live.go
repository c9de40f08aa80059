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
	return &wordwise{emit: emit, held: map[string]string{}}
}

func (w *wordwise) write(stream, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = w.held[stream] + text
	cut := strings.LastIndexAny(text, " \n\r\t") + 1
	if len(text)-cut > maxHeld {
		cut = len(text) // no secret is that long
	}
	w.held[stream] = text[cut:]
	if cut > 0 {
		w.emit(stream, text[:cut])
	}
}
