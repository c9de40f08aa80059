package mcpclient

import (
	"errors"
	"io"
	"sync"
)

// pieces collects bytes without copying what is there each time it grows. Its
// large pieces are used again: many long answers at a time would leave the
// garbage of each. What becomes longTotal is put where all of the longest fits:
// memory that is not written to yet is not there either, and a long answer need
// not be in memory twice at its end.
type pieces struct {
	list [][]byte
	size int
}

const (
	firstPiece = 4 << 10
	largePiece = 256 << 10
	longTotal  = 2 << 20
)

var largePieces = sync.Pool{New: func() any { return new([largePiece]byte) }}

func (c *pieces) add(p []byte) {
	for len(p) > 0 {
		if n := len(c.list); n == 0 || len(c.list[n-1]) == cap(c.list[n-1]) {
			if c.size >= longTotal && c.size < maxLine {
				c.list = [][]byte{c.gather(maxLine)}
			} else {
				c.list = append(c.list, newPiece(c.size))
			}
		}
		last := &c.list[len(c.list)-1]
		n := min(cap(*last)-len(*last), len(p))
		*last = append(*last, p[:n]...)
		p = p[n:]
		c.size += n
	}
}

func newPiece(size int) []byte {
	if size < largePiece {
		return make([]byte, 0, max(firstPiece, size))
	}
	return largePieces.Get().(*[largePiece]byte)[:0]
}

// head copies the first n bytes, or what there is of them.
func (c *pieces) head(n int) []byte {
	var out []byte
	for _, p := range c.list {
		if len(out) >= n {
			break
		}
		out = append(out, p[:min(len(p), n-len(out))]...)
	}
	return out
}

// tail copies the last n bytes, or what there is of them.
func (c *pieces) tail(n int) []byte {
	n = min(n, c.size)
	out := make([]byte, n)
	for i := len(c.list) - 1; i >= 0 && n > 0; i-- {
		part := c.list[i][max(0, len(c.list[i])-n):]
		n -= len(part)
		copy(out[n:], part)
	}
	return out
}

// drop forgets piece i, which nobody else has.
func (c *pieces) drop(i int) {
	if p := c.list[i]; cap(p) == largePiece && len(p) > 0 {
		largePieces.Put((*[largePiece]byte)(p[:largePiece]))
	}
	c.list[i] = nil
}

func (c *pieces) reset() {
	for i := range c.list {
		c.drop(i)
	}
	c.list, c.size = nil, 0
}

// take returns everything in one piece that belongs to the caller.
func (c *pieces) take() []byte {
	if len(c.list) == 1 {
		whole := c.list[0]
		c.list, c.size = nil, 0
		return whole
	}
	whole := c.gather(c.size)
	c.list, c.size = nil, 0
	return whole
}

// gather returns everything in one piece with room for so many bytes.
func (c *pieces) gather(room int) []byte {
	out := make([]byte, 0, room)
	for i, p := range c.list {
		out = append(out, p...)
		c.drop(i)
	}
	return out
}

// readAtMost reads a body of at most limit bytes. length is what the header
// said, -1 = nothing.
func readAtMost(from io.Reader, length, limit int64) ([]byte, error) {
	if length > limit {
		return nil, &oversized{limit: limit}
	}
	var all pieces
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if int64(all.size)+int64(n) > limit {
			return nil, &oversized{limit: limit}
		}
		// The promised length is believed once something has come.
		if all.size == 0 && n > 0 && length > int64(n) {
			all.list = [][]byte{make([]byte, 0, length)}
		}
		all.add(buffer[:n])
		if errors.Is(err, io.EOF) {
			return all.take(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
