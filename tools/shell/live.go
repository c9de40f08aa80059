package shell

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Bounds of the live output of one command.
const (
	liveEvery = 100 * time.Millisecond // at most one event a stream in this time
	liveEvent = 16 << 10               // bytes of one event
	liveTotal = 1 << 20                // bytes of one stream in all
	liveHold  = 500 * time.Millisecond // how long an unfinished line waits for its end
)

// live collects the output of a command and hands it on a few times a second.
// It sends whole lines where it can, so that what is redacted on the way is
// seldom cut in two.
type live struct {
	send    func(stream, text string)
	mu      sync.Mutex
	streams [2]pending
}

// pending is what one stream has not sent yet.
type pending struct {
	name    string
	b       []byte
	since   time.Time // when b got its first byte
	skipped int64
	sent    int
	over    bool
}

func newLive(send func(stream, text string)) *live {
	l := &live{send: send}
	l.streams[0].name, l.streams[1].name = "stdout", "stderr"
	return l
}

// add takes what was read from stream i.
func (l *live) add(i int, b []byte) {
	if l.send == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.streams[i]
	if p.over {
		return
	}
	if len(p.b) == 0 {
		p.since = time.Now()
	}
	n := min(len(b), liveEvent-len(p.b))
	if p.skipped > 0 {
		n = 0 // what comes after a gap waits until the gap is told
	}
	p.b = append(p.b, b[:n]...)
	p.skipped += int64(len(b) - n)
}

// flush sends what is due. With all it sends everything.
func (l *live) flush(all bool) {
	if l.send == nil {
		return
	}
	for i := range l.streams {
		l.mu.Lock()
		name, text := l.streams[i].name, l.streams[i].take(all)
		l.mu.Unlock()
		if text != "" {
			l.send(name, text)
		}
	}
}

// take removes and returns the text of the next event, "" if there is none.
func (p *pending) take(all bool) string {
	if len(p.b) == 0 {
		return ""
	}
	cut := len(p.b)
	if !all && p.skipped == 0 {
		if end := bytes.LastIndexAny(p.b, "\n\r"); end >= 0 {
			cut = end + 1
		} else if len(p.b) < liveEvent && time.Since(p.since) < liveHold {
			return ""
		} else {
			cut -= partial(p.b)
		}
	} else if p.skipped > 0 {
		short := partial(p.b)
		cut -= short
		p.skipped += int64(short)
	}
	text := strings.ToValidUTF8(string(p.b[:cut]), "\uFFFD")
	if p.skipped > 0 {
		text += fmt.Sprintf("\n[… %d bytes not shown live …]\n", p.skipped)
		p.b, p.skipped = p.b[:0], 0
	} else {
		p.b = append(p.b[:0], p.b[cut:]...)
	}
	p.since = time.Now()
	p.sent += cut
	if p.sent >= liveTotal {
		p.over, p.b = true, nil
		text += "\n[… no more live output of this command is shown …]\n"
	}
	return text
}

// run flushes until stop is closed, and then a last time.
func (l *live) run(stop <-chan struct{}) {
	t := time.NewTicker(liveEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.flush(false)
		case <-stop:
			l.flush(true)
			return
		}
	}
}
