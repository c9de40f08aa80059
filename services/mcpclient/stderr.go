package mcpclient

import (
	"bytes"
	"strings"
	"sync"

	"zeroclaw/services"
)

const (
	stderrLine = 64 << 10 // a longer line is cut
	stderrKept = 2 << 10  // what an error message quotes
)

// stderrTail takes a server's standard error line by line and keeps the end of
// it for error messages.
type stderrTail struct {
	log func(stream, text string)

	mu   sync.Mutex
	line []byte
	tail []byte
}

func newStderrTail(log func(stream, text string)) *stderrTail { return &stderrTail{log: log} }

// Write never fails and never waits: the pipe is always drained.
func (t *stderrTail) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if room := stderrLine - len(t.line); room > 0 {
			t.line = append(t.line, part[:min(room, len(part))]...)
		}
		if i < 0 {
			break
		}
		t.end()
		p = p[i+1:]
	}
	return n, nil
}

// end finishes the current line.
func (t *stderrTail) end() {
	text := strings.TrimRight(string(t.line), "\r")
	t.line = t.line[:0]
	if cap(t.line) > 4<<10 {
		t.line = nil
	}
	if text == "" {
		return
	}
	t.log("stderr", text)
	t.tail = append(append(t.tail, text...), '\n')
	if extra := len(t.tail) - 2*stderrKept; extra > 0 {
		t.tail = append(t.tail[:0], t.tail[extra:]...)
	}
}

func (t *stderrTail) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.line) > 0 {
		t.end()
	}
}

// last is the end of what was printed, as one visible line.
func (t *stderrTail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.tail))
	if extra := len(text) - stderrKept; extra > 0 {
		text = "…" + strings.ToValidUTF8(text[extra:], "")
	}
	return services.Visible(strings.Join(strings.Split(text, "\n"), " | "))
}
