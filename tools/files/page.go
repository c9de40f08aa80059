package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	// memoryLimit is the size up to which a file is looked at as a whole, so
	// that its encoding is that of the entire file.
	memoryLimit = 8 << 20
	// hashLimit is the size up to which a read tells the hash of the file.
	// Hashing more would take half as long as all the rest of a read.
	hashLimit = 512 << 10
	// headLimit is how much of a larger file decides whether it is text.
	headLimit = 64 << 10
	chunkSize = 256 << 10
)

// window says which part of a file is wanted. Lines end with LF; the last one
// may lack it.
type window struct {
	line     int64 // first line, from 1
	column   int64 // first byte in that line, from 1
	end      int64 // last line, 0 = no such limit
	maxLines int64
	maxBytes int64 // bytes of the file, not of the text made of them
}

// page is what was found there.
type page struct {
	enc        encoding
	text       string
	start, end int64 // first and last line; end = start-1 when there is no such line
	lines      int64
	next       int64  // line to go on with, 0 at the end of the file
	nextColumn int64  // > 1 when the page ends inside line next
	total      int64  // lines in the file, when the page met the end; else 0
	hash       string // SHA-256 of the entire file in hex; "" above hashLimit
	binary     bool   // not text, or the first line wanted holds a NUL
	stopped    bool   // line next holds a NUL; the page ends before it
}

// source is an open file as the page reader sees it: small ones are in memory.
type source struct {
	f    io.ReaderAt
	size int64
	data []byte // the entire content, or nil
}

func openSource(f io.ReaderAt, size int64) (source, error) {
	s := source{f: f, size: size}
	if size > memoryLimit {
		return s, nil
	}
	data, err := s.at(0, size)
	return source{f: f, size: int64(len(data)), data: data}, err
}

// at returns up to n bytes from off on; fewer only at the end of the file.
func (s source) at(off, n int64) ([]byte, error) {
	n = max(0, min(n, s.size-off))
	if s.data != nil {
		return s.data[off : off+n], nil
	}
	b := make([]byte, n)
	m, err := s.f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:m], err
}

// readPage reads one window of f. Memory is bounded by the window and
// memoryLimit, whatever the size of the file. progress is told how many bytes
// were passed over so far.
func readPage(ctx context.Context, f io.ReaderAt, size int64, w window, progress func(done int64)) (p page, err error) {
	src, err := openSource(f, size)
	if err != nil {
		return page{}, err
	}
	head, err := src.at(0, headLimit)
	if err != nil {
		return page{}, err
	}
	p = page{enc: byBOM(head), start: w.line, end: w.line - 1}
	valid := head[:encUTF8.whole(head)]
	if src.size <= hashLimit {
		p.hash = sum(src.data)
	}
	if src.size <= memoryLimit {
		valid = src.data
	}
	if p.enc == encUTF8 && !utf8.Valid(valid) {
		p.enc = encLatin1
	}
	if !looksLikeText(p.enc, head) {
		p.binary = true
		return p, nil
	}
	off, seen, err := p.skip(ctx, src, w, progress)
	if err != nil || seen < w.line-1 || off >= src.size {
		p.total = seen
		return p, err
	}
	raw, err := src.at(off, w.maxBytes)
	if err != nil {
		return page{}, err
	}
	p.cut(src, raw, off, w)
	return p, nil
}

// skip finds where the window starts: the offset and how many line ends lie
// before it. When the file has fewer lines it returns their number, less than
// w.line-1 or, for a last line without LF, at the end of the file.
func (p *page) skip(ctx context.Context, src source, w window, progress func(int64)) (off, seen int64, err error) {
	off = int64(len(p.enc.bom()))
	lf := p.enc.ascii("\n")
	last := off // where the line after the last LF starts
	for seen < w.line-1 {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		b, err := src.at(off, chunkSize)
		if err != nil {
			return 0, 0, err
		}
		if len(b) == 0 {
			if off > last {
				seen++
			}
			return off, seen, nil
		}
		n := p.enc.count(b, lf)
		if seen+n < w.line-1 {
			if i := p.enc.lastIndex(b, lf); i >= 0 {
				last = off + int64(i+len(lf))
			}
			seen += n
			off += int64(len(b))
			progress(off)
			continue
		}
		at := 0
		for ; seen < w.line-1; seen++ {
			at += p.enc.index(b[at:], lf) + len(lf)
		}
		off += int64(at)
	}
	if w.column > 1 {
		return p.skipColumns(src, off, w.column), seen, nil
	}
	return off, seen, nil
}

// skipColumns moves into a line, on to the start of the next character.
func (p *page) skipColumns(src source, off, column int64) int64 {
	u := p.enc.unit()
	off += (column - 1 + u - 1) / u * u
	b, err := src.at(off, 4)
	if err != nil {
		return off
	}
	for len(b) > 0 && inside(p.enc, b) {
		b = b[u:]
		off += u
	}
	return off
}

// inside reports that b starts in the middle of a character.
func inside(e encoding, b []byte) bool {
	switch e {
	case encUTF8, encUTF8BOM:
		return !utf8.RuneStart(b[0])
	case encUTF16LE, encUTF16BE:
		return len(b) > 1 && e.unitAt(b, 0)&0xFC00 == 0xDC00
	}
	return false
}

// cut makes the page from raw, which was read at off and may hold more than
// the lines wanted.
func (p *page) cut(src source, raw []byte, off int64, w window) {
	lf, nul := p.enc.ascii("\n"), p.enc.ascii("\x00")
	limit := w.maxLines
	if w.end > 0 {
		limit = min(limit, w.end-w.line+1)
	}
	more := off+int64(len(raw)) < src.size
	if p.enc.count(raw, lf) >= limit {
		at := 0
		for range limit {
			at += p.enc.index(raw[at:], lf) + len(lf)
		}
		more = more || at < len(raw)
		raw = raw[:at]
	} else if more {
		if i := p.enc.lastIndex(raw, lf); i >= 0 {
			raw = raw[:i+len(lf)]
		} else {
			raw = raw[:p.enc.whole(raw)]
		}
	}
	if i := p.enc.index(raw, nul); i >= 0 {
		i = p.enc.lastIndex(raw[:i], lf)
		if i < 0 {
			p.binary = true
			return
		}
		raw, more, p.stopped = raw[:i+len(lf)], true, true
	}
	if p.enc == encUTF8 && src.size > memoryLimit && !utf8.Valid(raw) {
		p.enc = encLatin1
	}
	p.text = p.enc.decode(raw)
	p.lines = p.enc.count(raw, lf)
	whole := p.enc.lastIndex(raw, lf) == len(raw)-len(lf)
	switch {
	case len(raw) == 0:
	case whole:
		p.end = p.start + p.lines - 1
		if more {
			p.next = p.end + 1
		}
	default:
		p.lines++
		p.end = p.start + p.lines - 1
		if more {
			// Only a line longer than the page ends like this.
			p.next = p.end
			p.nextColumn = max(w.column, 1) + int64(len(raw))
		}
	}
	if !more {
		p.total = p.end
	}
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
