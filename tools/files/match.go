package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// span is a half-open range of bytes of a file.
type span struct{ start, end int64 }

// maxSpans bounds the memory of a replacement.
const maxSpans = 1 << 20

// needle is old_text, ready to be looked for in one file.
type needle struct {
	enc   encoding
	exact []byte // the bytes to find; nil when line ends are mixed
	loose []byte // mixed: every line end as LF, matched by LF and CR LF alike
}

// newNeedle encodes text for a file. A line end in text stands for the line
// ends of the file, unless text holds a CR that is no part of a line end: then
// it is matched byte for byte.
func newNeedle(text string, s survey) (needle, error) {
	folded := strings.ReplaceAll(text, "\r\n", "\n")
	literal := strings.Contains(folded, "\r") || !strings.Contains(folded, "\n")
	n := needle{enc: s.enc}
	var err error
	switch {
	case literal:
		n.exact, err = s.enc.encode(text)
	case s.ends() == "mixed":
		n.loose, err = s.enc.encode(folded)
	case s.ends() == "crlf":
		n.exact, err = s.enc.encode(strings.ReplaceAll(folded, "\n", "\r\n"))
	default:
		n.exact, err = s.enc.encode(folded)
	}
	return n, err
}

// find calls found for each match of n in f, in order. Overlapping matches are
// included when overlap is set; otherwise the search goes on behind a match.
// found may return errStop.
func (n needle) find(ctx context.Context, f io.ReaderAt, size int64, overlap bool, found func(span) error) error {
	search := n.findExact
	if n.exact == nil {
		search = n.findLoose
	}
	err := search(ctx, f, size, overlap, found)
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

var errStop = errors.New("enough")

func (n needle) findExact(ctx context.Context, f io.ReaderAt, size int64, overlap bool, found func(span) error) error {
	bom, unit, length := int64(len(n.enc.bom())), n.enc.unit(), int64(len(n.exact))
	buf := make([]byte, max(windowSize, 2*len(n.exact)))
	base, held := bom, 0 // buf[:held] are the bytes at base
	next := bom          // no match starts before
	for base+length <= size {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := f.ReadAt(buf[held:min(int64(len(buf)), size-base)], base+int64(held))
		if m == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		held += m
		for {
			from := next - base
			if from > int64(held) {
				break
			}
			i := bytes.Index(buf[from:held], n.exact)
			if i < 0 {
				break
			}
			at := next + int64(i)
			if (at-bom)%unit != 0 {
				next = at + 1
				continue
			}
			if err := found(span{at, at + length}); err != nil {
				return err
			}
			if next = at + length; overlap {
				next = at + unit
			}
		}
		// A match may start in the last bytes and end in the next window.
		keep := min(int64(held), length-1)
		move := int64(held) - keep
		if move == 0 {
			return nil
		}
		copy(buf, buf[move:held])
		base, held = base+move, int(keep)
		next = max(next, base)
	}
	return nil
}

// windowSize is a variable so that tests can make matches cross windows.
var windowSize = 1 << 20

// findLoose is Knuth, Morris and Pratt's search over a file whose CR LF count
// as LF: linear, however often the needle nearly matches.
func (n needle) findLoose(ctx context.Context, f io.ReaderAt, size int64, overlap bool, found func(span) error) error {
	unit := int(n.enc.unit())
	want := n.symbols(n.loose)
	fail := failures(want)
	starts := make([]int64, len(want)) // where the last len(want) symbols start, as a ring
	at := int64(len(n.enc.bom()))
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, size-at), chunkSize)
	matched := 0
	for i := 0; ; i++ {
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := r.Peek(2 * unit)
		if len(b) < unit {
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		symbol, width := n.symbol(b), unit
		if symbol == '\r' && len(b) == 2*unit && n.symbol(b[unit:]) == '\n' {
			symbol, width = '\n', 2*unit
		}
		starts[i%len(want)] = at
		at += int64(width)
		if _, err := r.Discard(width); err != nil {
			return err
		}
		for matched > 0 && want[matched] != symbol {
			matched = fail[matched-1]
		}
		if want[matched] == symbol {
			matched++
		}
		if matched < len(want) {
			continue
		}
		if err := found(span{starts[(i+1)%len(want)], at}); err != nil {
			return err
		}
		if matched = fail[matched-1]; !overlap {
			matched = 0
		}
	}
}

func (n needle) symbol(b []byte) uint16 {
	if n.enc.unit() == 1 {
		return uint16(b[0])
	}
	return n.enc.unitAt(b, 0)
}

func (n needle) symbols(b []byte) []uint16 {
	var out []uint16
	for u := int(n.enc.unit()); len(b) >= u; b = b[u:] {
		out = append(out, n.symbol(b))
	}
	return out
}

// failures is the table of the longest border of every prefix.
func failures(want []uint16) []int {
	fail := make([]int, len(want))
	for i, k := 1, 0; i < len(want); i++ {
		for k > 0 && want[i] != want[k] {
			k = fail[k-1]
		}
		if want[i] == want[k] {
			k++
		}
		fail[i] = k
	}
	return fail
}

// lineNumbers tells the lines, from 1, in which the offsets lie, which must be
// in ascending order.
func lineNumbers(ctx context.Context, f io.ReaderAt, enc encoding, offsets []int64) ([]int64, error) {
	lines := make([]int64, 0, len(offsets))
	at, line := int64(len(enc.bom())), int64(1)
	lf := enc.ascii("\n")
	buf := make([]byte, chunkSize)
	for _, off := range offsets {
		for at < off {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n, err := f.ReadAt(buf[:min(int64(len(buf)), off-at)], at)
			if n == 0 && err != nil {
				return nil, fmt.Errorf("counting lines: %w", err)
			}
			line += enc.count(buf[:n], lf)
			at += int64(n)
		}
		lines = append(lines, line)
	}
	return lines, nil
}
