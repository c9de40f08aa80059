package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"zeroclaw/permissions"
)

const (
	// wholeDiffLimit is the size up to which two entire contents are compared.
	wholeDiffLimit = 4 << 20
	maxRegions     = 64
	maxRegionBytes = 64 << 10 // how far from a change its lines are looked for
)

// diff is the unified diff of the change, bounded in size, with control
// characters as they are. It says so in words where there can be none.
func (c *change) diff(ctx context.Context) (string, error) {
	if len(c.pieces) == 0 {
		return "", nil
	}
	w := diffWriter{limit: true}
	w.header(c.path, c.file == nil)
	if c.call.mode == "write" {
		return c.wholeDiff(&w)
	}
	regions, more, err := c.regions(ctx)
	if errors.Is(err, errLongLines) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, r := range regions {
		w.section(r.old, r.new, r.oldLine, r.newLine)
	}
	return w.finish(more), nil
}

func (w *diffWriter) header(p permissions.Path, created bool) {
	name := p.Spelled
	if name == "" {
		name = permissions.EncodePath(p.Real)
	}
	name = shown(strings.TrimPrefix(name, "./"))
	old := name
	if created {
		old = "/dev/null"
	}
	w.line("--- " + old + "\n")
	w.line("+++ " + name + "\n")
}

func (c *change) wholeDiff(w *diffWriter) (string, error) {
	if c.was.size > wholeDiffLimit {
		return fmt.Sprintf("(The file of %s is replaced entirely; it is too large for a diff.)\n", plural(c.was.size, "byte", "bytes")), nil
	}
	old := make([]byte, c.was.size)
	if _, err := c.reader().ReadAt(old, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if c.was.enc.unit() == 1 && bytes.IndexByte(old, 0) >= 0 {
		return fmt.Sprintf("(The file of %s is no text and is replaced entirely.)\n", plural(c.was.size, "byte", "bytes")), nil
	}
	bom := len(c.was.enc.bom())
	w.section(c.was.enc.decode(old[min(bom, len(old)):]), c.was.enc.decode(c.pieces[0].text[bom:]), 1, 1)
	return w.finish(false), nil
}

// region is a run of entire lines around changes.
type region struct {
	span
	pieces           []piece
	old, new         string
	oldLine, newLine int64
}

var errLongLines = errors.New("the lines are too long for a diff")

// regions finds the lines around the changes without reading the rest of the
// file, line numbers aside.
func (c *change) regions(ctx context.Context) (found []region, more bool, err error) {
	total := int64(0)
	for _, p := range c.pieces {
		around, err := c.linesAround(p.span)
		if err != nil {
			return nil, false, err
		}
		k := len(found) - 1
		if k >= 0 && around.start <= found[k].end {
			total += max(0, around.end-found[k].end)
			found[k].end = max(around.end, found[k].end)
			found[k].pieces = append(found[k].pieces, p)
			continue
		}
		if total += around.end - around.start; len(found) == maxRegions || total > wholeDiffLimit {
			more = true
			break
		}
		found = append(found, region{span: around, pieces: []piece{p}})
	}
	starts := make([]int64, len(found))
	for i, r := range found {
		starts[i] = r.start
	}
	numbers, err := lineNumbers(ctx, c.reader(), c.was.enc, starts)
	if err != nil {
		return nil, false, err
	}
	shift := int64(0)
	for i := range found {
		r := &found[i]
		old := make([]byte, r.end-r.start)
		if n, err := c.reader().ReadAt(old, r.start); n < len(old) {
			return nil, false, err
		}
		new, err := io.ReadAll(&splice{f: c.reader(), size: r.end, at: r.start, pieces: r.pieces})
		if err != nil {
			return nil, false, err
		}
		r.old, r.new = c.was.enc.decode(old), c.was.enc.decode(new)
		r.oldLine, r.newLine = numbers[i], numbers[i]+shift
		shift += int64(strings.Count(r.new, "\n") - strings.Count(r.old, "\n"))
	}
	return found, more, nil
}

// linesAround widens a span to entire lines with context before and behind.
func (c *change) linesAround(s span) (span, error) {
	enc := c.was.enc
	lf := enc.ascii("\n")
	first := int64(len(enc.bom()))
	from := max(first, s.start-maxRegionBytes)
	before := make([]byte, s.start-from)
	if n, err := c.reader().ReadAt(before, from); n < len(before) {
		return span{}, err
	}
	at, found := len(before), 0
	for ; found <= diffContext; found++ {
		i := enc.lastIndex(before[:at], lf)
		if i < 0 {
			break
		}
		at = i
	}
	out := span{start: from}
	switch {
	case found > diffContext || found > 0 && from > first:
		out.start = from + int64(at+len(lf))
	case from > first:
		return span{}, errLongLines
	}
	behind := make([]byte, min(maxRegionBytes, c.was.size-s.end))
	if n, err := c.reader().ReadAt(behind, s.end); n < len(behind) {
		return span{}, err
	}
	at = 0
	for found = 0; found <= diffContext; found++ {
		i := enc.index(behind[at:], lf)
		if i < 0 {
			break
		}
		at += i + len(lf)
	}
	out.end = s.end + int64(at)
	if found <= diffContext && s.end+int64(len(behind)) == c.was.size {
		out.end = c.was.size
	} else if found == 0 {
		return span{}, errLongLines
	}
	return out, nil
}
