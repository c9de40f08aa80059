package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"unicode/utf8"
)

// maxLine bounds one line of a server's standard output, maxUnended one that is
// thrown away: after so much of it without an end the connection is over.
const (
	maxLine    = 16 << 20
	maxUnended = 256 << 20
)

// Kept of a line that is too long, to find out which answer it was.
const (
	keepHead = 4 << 10
	keepTail = 256
)

// maxDecoded bounds a request, a notification or an error of the server, in
// bytes: they are decoded whole.
const maxDecoded = 1 << 20

// maxBatch bounds how many messages one JSON-RPC batch may hold.
const maxBatch = 1000

// messageFilter reads a server's standard output. It takes whatever the server
// prints, of any size and kind, in bounded memory, and passes on one message
// after the other, each of them valid JSON. No result of an answer is decoded.
type messageFilter struct {
	// answer takes the raw result of an answer, which is its own from then on,
	// or its error, nil for the other. It reports whether somebody waits for it.
	answer func(id string, result, failed json.RawMessage) bool
	// other takes a request or a notification, with its parts. It must not wait
	// and keeps nothing of them.
	other func(m message, raw []byte)
	// overlong tells that an answer was too long to read; id is "" when it
	// could not be found.
	overlong func(id string, size, limit int64)
	// unusable tells that an answer cannot be read, and why; id is as above.
	unusable func(id, why string)
	// unended tells, once, that a line does not end.
	unended func(size int64)
	log     func(text string)
	limit   int

	writing sync.Mutex // one writer at a time; also guards the line below

	mu     sync.Mutex // guards the counters, which others read
	noise  int        // lines that are not messages
	bytes  int64      // of them
	passed int        // messages

	line   pieces // the line so far
	size   int64  // bytes of it, also of those not kept
	head   []byte // its first and last bytes, once it is too long
	tail   []byte
	gaveUp bool // unended was called
}

// Write takes output as it comes. It never fails, so that the pipe behind it is
// drained to its end.
func (f *messageFilter) Write(p []byte) (int, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			f.collect(p)
			break
		}
		if f.size == 0 && i <= f.limit {
			f.finish(p[:i], false)
		} else {
			f.collect(p[:i])
			f.end()
		}
		p = p[i+1:]
	}
	return n, nil
}

// flush takes a last line that has no end, unless output is still coming (from
// a descendant that has the pipe).
func (f *messageFilter) flush() {
	if !f.writing.TryLock() {
		return
	}
	defer f.writing.Unlock()
	if f.size > 0 {
		f.end()
	}
}

// end takes the line that was collected.
func (f *messageFilter) end() {
	if size := f.size; size > int64(f.limit) {
		f.tooLong(f.head, f.tail, size)
	} else {
		f.finish(f.line.take(), true)
	}
	f.line.reset()
	f.head, f.tail, f.size = nil, nil, 0
}

func (f *messageFilter) collect(p []byte) {
	f.size += int64(len(p))
	if f.size <= int64(f.limit) {
		f.line.add(p)
		return
	}
	if f.tail == nil {
		f.head, f.tail = f.line.head(keepHead), f.line.tail(keepTail)
		f.line.reset()
	}
	if missing := keepHead - len(f.head); missing > 0 {
		f.head = append(f.head, p[:min(missing, len(p))]...)
	}
	f.tail = append(f.tail, p[max(0, len(p)-keepTail):]...)
	f.tail = append(f.tail[:0], f.tail[max(0, len(f.tail)-keepTail):]...)
	if f.size > maxUnended && !f.gaveUp {
		f.gaveUp = true
		f.unended(f.size)
	}
}

// finish takes a whole line. own says that nobody else has its bytes.
func (f *messageFilter) finish(line []byte, own bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if (line[0] == '{' || line[0] == '[') && !utf8.Valid(line) {
		line, own = inUTF8(line), true
	}
	switch {
	case line[0] == '{':
		f.object(line, own)
	case line[0] == '[' && (json.Valid(line) || checkDepth(line) != nil):
		f.batch(line, own)
	default:
		f.reject(line)
	}
}

func (f *messageFilter) object(line []byte, own bool) {
	deep := checkDepth(line)
	switch {
	case deep == nil && json.Valid(line):
		f.message(line, own)
	case deep == nil:
		f.reject(line)
	case deep.method == nil:
		f.unusable(deep.id, deep.Error())
	default:
		f.bare(deep.id, deep.method, fmt.Sprintf("was not read: it is nested more than %d levels deep", maxDepth))
	}
}

func (f *messageFilter) message(line []byte, own bool) {
	m, ok := scanMessage(line)
	switch {
	case !ok || m.method == nil && (m.id == nil || m.result == nil && m.err == nil && !m.marked()):
		f.reject(line)
	case m.method == nil && m.result == nil && m.err == nil:
		f.unusable(string(m.id), neither)
	case (m.method != nil || m.err != nil) && len(line) > maxDecoded:
		f.undecoded(m, len(line))
	case m.method != nil:
		f.pass(m, line)
	case m.err != nil:
		f.answered(string(m.id), nil, m.err)
	default:
		raw := m.result
		if !own {
			raw = bytes.Clone(raw)
		}
		f.answered(string(m.id), raw, nil)
	}
}

func (f *messageFilter) answered(id string, result, failed json.RawMessage) {
	if f.answer(id, result, failed) {
		f.count()
	}
}

// undecoded keeps away what would be decoded into many times its size:
// everything but a result. What somebody waits for is answered.
func (f *messageFilter) undecoded(m message, size int) {
	if m.method == nil {
		f.overlong(string(m.id), int64(size), maxDecoded)
		return
	}
	f.bare(string(m.id), m.method, fmt.Sprintf("of %d bytes was not read: at most %d are", size, maxDecoded))
}

// bare takes a request ("" = no id: a notification) that is not read. Without
// its parameters it is refused in the ordinary way.
func (f *messageFilter) bare(id string, method json.RawMessage, why string) {
	what := "a notification "
	if id != "" {
		what = "a request "
		f.pass(message{id: json.RawMessage(id), method: method}, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s}`, id, method))
	}
	f.log(what + why)
}

func (f *messageFilter) batch(line []byte, own bool) {
	parts, ok := scanElements(line, maxBatch)
	if !ok || len(parts) == 0 {
		f.reject(line)
		return
	}
	for _, p := range parts {
		if len(p) > 0 && p[0] == '{' {
			f.object(p, own)
		} else {
			f.reject(p)
		}
	}
}

func (f *messageFilter) pass(m message, raw []byte) {
	f.count()
	f.other(m, raw)
}

func (f *messageFilter) count() {
	f.mu.Lock()
	f.passed++
	f.mu.Unlock()
}

func (f *messageFilter) reject(line []byte) {
	f.mu.Lock()
	f.noise++
	f.bytes += int64(len(line))
	f.mu.Unlock()
	f.log(string(line[:min(len(line), 64<<10)]))
}

func (f *messageFilter) counts() (noise int, bytes int64, passed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noise, f.bytes, f.passed
}

// lastID matches an id that is the last member of a message: what follows it
// closes the outermost object.
var lastID = regexp.MustCompile(`[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)\s*\}\s*$`)

// firstID matches an id that stands before the large part of a message.
var firstID = regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)\s*,`)

func (f *messageFilter) tooLong(head, tail []byte, size int64) {
	f.mu.Lock()
	f.noise++
	f.bytes += size
	f.mu.Unlock()
	if start := bytes.TrimSpace(head); len(start) == 0 || start[0] != '{' {
		f.log(fmt.Sprintf("a line of %d bytes that is no message was thrown away; it begins: %s", size, head[:min(len(head), 200)]))
		return
	}
	if methodFirst.Match(head) {
		f.log(fmt.Sprintf("a message of %d bytes that is no answer was thrown away: at most %d are read", size, f.limit))
		return
	}
	id := ""
	if m := firstID.FindSubmatch(head); m != nil {
		id = string(m[1])
	} else if m := lastID.FindSubmatch(tail); m != nil {
		id = string(m[1])
	}
	f.overlong(id, size, int64(f.limit))
}
