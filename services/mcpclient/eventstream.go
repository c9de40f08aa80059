package mcpclient

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// event is one event of a text/event-stream.
type event struct {
	name  string // "" = message
	data  []byte // the lines joined; it belongs to the receiver
	id    string
	hasID bool
	retry time.Duration // 0 = not given
}

// oversized is the error for an event with more data than is taken. The rest of
// it is thrown away by the next reading.
type oversized struct {
	limit int64
	head  []byte // how its data begins
}

func (e *oversized) Error() string { return tooMany(e.limit) }

// minDiscarded is thrown away of one event at least before it counts as one
// without end, in bytes.
const minDiscarded = 64 << 20

// discards is how much of one event is thrown away at most, in bytes.
func discards(limit int64) int64 { return max(4*min(limit, 1<<60), minDiscarded) }

// endless is the error for an event without end. The stream is not read any
// further: whoever sends for ever would be listened to for ever.
type endless struct{ discarded int64 }

func (e *endless) Error() string {
	return fmt.Sprintf("the server sent an event without end: after %d bytes of it that were thrown away its connection was closed", e.discarded)
}
func (e *endless) Restartable() bool { return true }

// tooMany is the sentence about an answer that is too long.
func tooMany(limit int64) string {
	return fmt.Sprintf("the answer of the server is longer than the %d bytes that are taken (max_response_bytes)", limit)
}

// eventReader reads a text/event-stream of any size in bounded memory.
type eventReader struct {
	from  io.Reader
	limit int64 // bytes of data of one event
	most  int64 // bytes of one event that are thrown away; 0 = discards(limit)

	buffer []byte
	rest   []byte // of the buffer
	err    error  // why there is no more
	began  bool   // past the byte order mark
	start  []byte // what may be one
	cr     bool   // the last line ended with CR: an LF that follows is part of it

	line struct {
		kind int
		head []byte // its beginning, at most maxField bytes
		any  bool   // it is not empty
	}
	current event
	data    pieces
	lines   int   // data lines of the event so far
	size    int64 // bytes of them
	skip    bool  // the event is thrown away to its blank line
	wasted  int64 // bytes of the event that were thrown away, comments among them
}

const (
	lineOpen  = iota // its field is not known yet
	lineData         // data: its value is being collected
	lineOther        // another field or a comment

	maxField = 1 << 10 // of an id, a name, a retry time
)

// next returns the next event that has data, an id or a retry time. An
// *oversized error leaves the stream usable; others are its end, and *endless is
// ours.
func (r *eventReader) next() (event, error) {
	for {
		part, end, err := r.part()
		if err != nil {
			// An event without its blank line is not whole.
			return event{}, err
		}
		long := r.take(part)
		var e event
		var whole bool
		if end {
			var over error
			e, whole, over = r.endLine()
			long = cmp.Or(long, over)
		}
		if long != nil {
			return event{}, long
		}
		if whole {
			return e, nil
		}
		if r.wasted > cmp.Or(r.most, discards(r.limit)) {
			return event{}, &endless{r.wasted}
		}
	}
}

// part returns a piece of the current line, and whether the line ends with it.
func (r *eventReader) part() ([]byte, bool, error) {
	for {
		if r.cr && len(r.rest) > 0 {
			r.cr = false
			if r.rest[0] == '\n' {
				r.rest = r.rest[1:]
			}
		}
		if len(r.rest) > 0 {
			break
		}
		if r.err != nil {
			return nil, false, r.err
		}
		if r.buffer == nil {
			r.buffer = make([]byte, 32<<10)
		}
		n, err := r.from.Read(r.buffer)
		r.rest, r.err = r.buffer[:n], err
		if !r.began {
			r.rest = r.unmarked(r.rest)
		}
	}
	line, i := r.rest, bytes.IndexByte(r.rest, '\n')
	if i >= 0 {
		line = line[:i]
	}
	if c := bytes.IndexByte(line, '\r'); c >= 0 {
		line, i, r.cr = line[:c], c, true
	}
	if i < 0 {
		r.rest = nil
		return line, false, nil
	}
	r.rest = r.rest[i+1:]
	return line, true, nil
}

// unmarked takes the first bytes of the stream and returns them without a byte
// order mark, nothing while it cannot be told.
func (r *eventReader) unmarked(p []byte) []byte {
	const mark = "\xef\xbb\xbf"
	r.start = append(r.start, p...)
	if len(r.start) < len(mark) && strings.HasPrefix(mark, string(r.start)) && r.err == nil {
		return nil
	}
	r.began = true
	p, r.start = bytes.TrimPrefix(r.start, []byte(mark)), nil
	return p
}

// take adds a piece to the current line.
func (r *eventReader) take(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	r.line.any = true
	if r.line.kind == lineOpen {
		const field = "data: "
		n := min(len(field)-len(r.line.head), len(p))
		r.line.head = append(r.line.head, p[:n]...)
		p = p[n:]
		switch {
		case !bytes.HasPrefix([]byte(field), r.line.head[:min(len(r.line.head), 5)]):
			r.line.kind = lineOther
			r.wasted += int64(len(r.line.head))
		case len(r.line.head) == len(field):
			r.line.kind = lineData
			value := r.line.head[len("data:"):]
			if value[0] == ' ' {
				value = nil
			}
			if err := r.collect(value); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	if r.line.kind == lineData {
		return r.collect(p)
	}
	r.wasted += int64(len(p))
	if room := maxField - len(r.line.head); room > 0 {
		r.line.head = append(r.line.head, p[:min(room, len(p))]...)
	}
	return nil
}

// collect adds to the event's data.
func (r *eventReader) collect(p []byte) error {
	if r.skip {
		r.wasted += int64(len(p))
		return nil
	}
	r.size += int64(len(p))
	if r.size > r.limit {
		return r.overrun(p)
	}
	r.data.add(p)
	return nil
}

// overrun begins to throw the event away. p is what was to be added.
func (r *eventReader) overrun(p []byte) error {
	r.skip = true
	e := &oversized{limit: r.limit, head: append(r.data.head(keepHead), p[:min(len(p), keepHead)]...)}
	r.data.reset()
	return e
}

// endLine ends a line, and with a blank one the event.
func (r *eventReader) endLine() (event, bool, error) {
	kind, head, some := r.line.kind, r.line.head, r.line.any
	r.line.kind, r.line.head, r.line.any = lineOpen, head[:0], false
	if !some {
		e, whole := r.endEvent()
		return e, whole, nil
	}
	// A data line that is shorter than its field with the space.
	if kind == lineOpen && (string(head) == "data" || string(head) == "data:") || kind == lineData {
		r.lines++
		if r.skip {
			r.wasted += int64(len(head)) + 1
			return event{}, false, nil
		}
		r.size++
		r.data.add([]byte{'\n'})
		// The end of the last line is none of the data.
		if r.size > r.limit+1 {
			return event{}, false, r.overrun(nil)
		}
		return event{}, false, nil
	}
	if r.wasted++; kind == lineOpen {
		r.wasted += int64(len(head))
	}
	name, value, _ := bytes.Cut(head, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.current.name = string(value)
	case "id":
		if !bytes.ContainsRune(value, 0) && len(head) < maxField {
			r.current.id, r.current.hasID = string(value), true
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.current.retry = time.Duration(ms) * time.Millisecond
		}
	}
	return event{}, false, nil
}

func (r *eventReader) endEvent() (event, bool) {
	e, skipped, lines := r.current, r.skip, r.lines
	r.current, r.skip, r.lines, r.size, r.wasted = event{}, false, 0, 0, 0
	if skipped {
		r.data.reset()
		return event{}, false
	}
	e.data = r.data.take()
	if n := len(e.data); lines > 0 && n > 0 {
		e.data = e.data[: n-1 : n-1]
	}
	return e, lines > 0 || e.hasID || e.retry > 0
}
