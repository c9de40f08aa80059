package services

import (
	"sync"
	"time"
)

// LogLine is one line of a server's log. Text has been redacted and made
// visible.
type LogLine struct {
	// Seq counts up by one from 1 for each server.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	// Stream is "stdout" (what was not JSON), "stderr", "server" (log
	// notifications) or "companion" (our own remarks).
	Stream string `json:"stream"`
	Text   string `json:"text"`
}

const (
	ringLines = 2000
	ringBytes = 512 << 10
	lineBytes = 8 << 10
)

// ring keeps the newest lines, bounded in count and bytes.
type ring struct {
	now    func() time.Time
	redact func(string) string

	mu    sync.Mutex
	lines []LogLine // lines[head:] are held
	head  int
	bytes int
	seq   uint64
}

func (r *ring) add(stream, text string) {
	// Redacting comes before cutting: half a secret is no longer recognised.
	text = Clip(Visible(r.redact(text)), lineBytes)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	r.lines = append(r.lines, LogLine{Seq: r.seq, Time: r.now().UTC(), Stream: stream, Text: text})
	r.bytes += len(text)
	for len(r.lines)-r.head > 1 && (len(r.lines)-r.head > ringLines || r.bytes > ringBytes) {
		r.bytes -= len(r.lines[r.head].Text)
		r.lines[r.head] = LogLine{}
		r.head++
	}
	if r.head > ringLines {
		r.lines = append([]LogLine(nil), r.lines[r.head:]...)
		r.head = 0
	}
}

// after returns the held lines with a higher number, at most limit of the
// newest (0 = all).
func (r *ring) after(seq uint64, limit int) []LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.lines[r.head:]
	if len(held) > 0 && seq >= held[0].Seq {
		held = held[min(int(seq-held[0].Seq+1), len(held)):]
	}
	if limit > 0 && len(held) > limit {
		held = held[len(held)-limit:]
	}
	return append([]LogLine{}, held...)
}
