package events

import (
	"strconv"

	"github.com/r3labs/sse/v2"
)

// ring keeps the newest events, without a gap, within two bounds.
type ring struct {
	events, bytes int // bounds

	list []*sse.Event // oldest first, list[0] has the number next-len(list)
	held int          // bytes of list
	next uint64       // the number of the event to come
}

func cost(e *sse.Event) int { return len(e.Data) + len(e.Event) + len(e.ID) + 64 }

func (r *ring) add(e *sse.Event) {
	r.list = append(r.list, e)
	r.held += cost(e)
	r.next++
	drop := 0
	for drop < len(r.list) && (len(r.list)-drop > r.events || r.held > r.bytes) {
		r.held -= cost(r.list[drop])
		r.list[drop] = nil
		drop++
	}
	r.list = r.list[drop:]
}

// skip drops everything: nobody who comes later has seen any of it.
func (r *ring) skip() {
	r.list, r.held = nil, 0
	r.next++
}

// after returns the events that follow number seq, or false when one of them
// is no longer held or seq was never given.
func (r *ring) after(seq uint64) ([]*sse.Event, bool) {
	first := r.next - uint64(len(r.list))
	if seq >= r.next || seq+1 < first {
		return nil, false
	}
	return r.list[seq+1-first:], true
}

// lastID reads a Last-Event-ID header. What is not a number is a number that
// was never given.
func lastID(header string) uint64 {
	n, err := strconv.ParseUint(header, 10, 64)
	if err != nil {
		return 1<<64 - 1
	}
	return n
}
