package shell

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// keep holds the start and the end of one stream, and counts what is between.
type keep struct {
	mu    sync.Mutex
	half  int
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring is written next
	total int64
	last  time.Time // of the last write
	eof   bool
	off   bool // nobody will ask again: count only
}

func newKeep(limit int) *keep { return &keep{half: limit / 2} }

// add takes what was read. It reports the total so far.
func (k *keep) add(b []byte) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total += int64(len(b))
	k.last = time.Now()
	if k.off {
		return k.total
	}
	n := min(len(b), k.half-len(k.head))
	k.head = append(k.head, b[:n]...)
	b = b[n:]
	if len(b) > k.half {
		b = b[len(b)-k.half:]
	}
	if room := k.half - len(k.tail); room > 0 {
		n = min(len(b), room)
		k.tail = append(k.tail, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n = copy(k.tail[k.next:], b)
		k.next = (k.next + n) % k.half
		b = b[n:]
	}
	return k.total
}

func (k *keep) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.eof = true
}

// quiet reports whether the stream has ended, or was silent for d.
func (k *keep) quiet(since time.Time, d time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last.After(since) {
		since = k.last
	}
	return k.eof || time.Since(since) >= d
}

// release gives the memory back; the stream goes on being counted.
func (k *keep) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.off, k.head, k.tail, k.next = true, nil, nil, 0
}

// kept is what remains of a stream as text.
type kept struct {
	text    string
	omitted int64 // bytes left out in the middle
	invalid bool  // some bytes were no UTF-8 and were replaced
}

// text makes valid UTF-8 of what is held. A character is not cut in two where
// something was left out.
func (k *keep) text() kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	tail := append(append(make([]byte, 0, len(k.tail)), k.tail[k.next:]...), k.tail[:k.next]...)
	left := k.total - int64(len(k.head)) - int64(len(tail))
	if left <= 0 {
		all := string(k.head) + string(tail)
		return kept{text: strings.ToValidUTF8(all, "\uFFFD"), invalid: !utf8.ValidString(all)}
	}
	head := k.head[:len(k.head)-partial(k.head)]
	front := 0
	for front < len(tail) && front < utf8.UTFMax-1 && !utf8.RuneStart(tail[front]) {
		front++
	}
	left += int64(len(k.head) - len(head) + front)
	tail = tail[front:]
	return kept{
		text: strings.ToValidUTF8(string(head), "\uFFFD") + fmt.Sprintf("\n[… %d bytes left out …]\n", left) +
			strings.ToValidUTF8(string(tail), "\uFFFD"),
		omitted: left,
		invalid: !utf8.Valid(head) || !utf8.Valid(tail),
	}
}

// partial is the number of bytes at the end of b that begin a character
// without completing it.
func partial(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
