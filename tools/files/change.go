package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// piece is a part of a file and what takes its place.
type piece struct {
	span
	text []byte
}

// edit is what a caller asks of a file.
type edit struct {
	mode     string // "write", "append" or "replace"
	content  string // write, append
	old, new string // replace
	all      bool   // replace: every match
}

// mismatch is a replace whose old_text is not there exactly once.
type mismatch struct {
	count int64
	lines []int64 // of the first matches
	more  bool    // there are more matches than were counted
}

func (m *mismatch) Error() string {
	if m.count == 0 {
		return "old_text does not occur in the file, so nothing was changed; read the file again and copy the text exactly, with its spaces and tabs"
	}
	at := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.lines), " ", ", "), "[]")
	if m.count > int64(len(m.lines)) {
		at += ", …"
	}
	count := fmt.Sprint(m.count)
	if m.more {
		count = "more than " + count
	}
	return fmt.Sprintf("old_text occurs %s times (lines %s), so nothing was changed; add surrounding lines to make it unique, or set replace_all", count, at)
}

const (
	shownMatches   = 20     // line numbers in a mismatch
	countedMatches = 10_000 // matches counted before "more than"
)

// errSame is a replace that would not change a byte.
var errSame = errors.New("the file would stay as it is: new_text equals what it replaces (line ends in new_text become those of the file)")

// plan turns e into pieces of f, in ascending order and not overlapping. f is
// untouched.
func (e edit) plan(ctx context.Context, f io.ReaderAt, s survey) ([]piece, error) {
	switch e.mode {
	case "write":
		text, err := e.whole(s)
		return []piece{{span{0, s.size}, text}}, err
	case "append":
		text, err := withEnds(e.content, s, nil)
		if err != nil || len(text) == 0 {
			return nil, err
		}
		return []piece{{span{s.size, s.size}, text}}, nil
	}
	return e.replace(ctx, f, s)
}

// whole is the new content for write: with the encoding and BOM that the file
// had, and with its CR LF where the caller does not use CR at all.
func (e edit) whole(s survey) ([]byte, error) {
	content := e.content
	if s.ends() == "crlf" && !strings.Contains(content, "\r") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	bom := s.enc.bom()
	if bom != nil {
		content = strings.TrimPrefix(content, "\ufeff")
	}
	text, err := s.enc.encode(content)
	return append(bom, text...), err
}

func (e edit) replace(ctx context.Context, f io.ReaderAt, s survey) ([]piece, error) {
	n, err := newNeedle(e.old, s)
	if err != nil {
		// A character that the encoding lacks cannot be in the file.
		return nil, &mismatch{}
	}
	var spans []span
	limit := countedMatches
	if e.all {
		limit = maxSpans
	}
	more := false
	err = n.find(ctx, f, s.size, !e.all, func(m span) error {
		if len(spans) == limit {
			more = true
			return errStop
		}
		spans = append(spans, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if more && e.all {
		return nil, fmt.Errorf("old_text occurs more than %d times, more than one call replaces; nothing was changed", maxSpans)
	}
	if len(spans) == 0 || len(spans) > 1 && !e.all {
		m := &mismatch{count: int64(len(spans)), more: more}
		var starts []int64
		for _, s := range spans[:min(len(spans), shownMatches)] {
			starts = append(starts, s.start)
		}
		m.lines, err = lineNumbers(ctx, f, s.enc, starts)
		return nil, errors.Join(err, m)
	}
	return e.pieces(f, s, n, spans)
}

// pieces pairs the matches with their replacement and drops those that change
// nothing.
func (e edit) pieces(f io.ReaderAt, s survey, n needle, spans []span) ([]piece, error) {
	var same []byte // the replacement where it is the same everywhere
	var err error
	literal := strings.Contains(strings.ReplaceAll(e.old, "\r\n", "\n"), "\r")
	positional := !literal && s.ends() == "mixed" && strings.Contains(e.new, "\n")
	switch {
	case literal:
		same, err = s.enc.encode(e.new)
	case !positional:
		same, err = withEnds(e.new, s, nil)
	}
	if err != nil {
		return nil, err
	}
	var pieces []piece
	for _, m := range spans {
		text := same
		matched := n.exact
		if positional || matched == nil {
			matched = make([]byte, m.end-m.start)
			if _, err := f.ReadAt(matched, m.start); err != nil {
				return nil, err
			}
		}
		if positional {
			ends := endsIn(s.enc, matched)
			if len(ends) == 0 {
				ends = endAfter(f, s, m.end)
			}
			if text, err = withEnds(e.new, s, ends); err != nil {
				return nil, err
			}
		}
		if !bytes.Equal(text, matched) {
			pieces = append(pieces, piece{m, text})
		}
	}
	if len(pieces) == 0 {
		return nil, errSame
	}
	return pieces, nil
}

// withEnds encodes text with the line ends of the file. In a mixed file the
// first line end of text becomes ends[0], the second ends[1] and so on, the
// rest the last of ends, or without ends the last line end of the file. A file
// of one line has no line end to follow, so text stays as it is.
func withEnds(text string, s survey, ends []string) ([]byte, error) {
	folded := strings.ReplaceAll(text, "\r\n", "\n")
	switch s.ends() {
	case "":
	case "lf":
		text = folded
	case "crlf":
		text = strings.ReplaceAll(folded, "\n", "\r\n")
	default:
		if len(ends) == 0 {
			ends = []string{s.last}
		}
		var b strings.Builder
		for i, line := range strings.Split(folded, "\n") {
			if i > 0 {
				b.WriteString(ends[min(i, len(ends))-1])
			}
			b.WriteString(line)
		}
		text = b.String()
	}
	return s.enc.encode(text)
}

// endsIn lists the line ends in b.
func endsIn(enc encoding, b []byte) []string {
	var ends []string
	lf, cr := enc.ascii("\n"), enc.ascii("\r")
	for {
		i := enc.index(b, lf)
		if i < 0 {
			return ends
		}
		if bytes.HasSuffix(b[:i], cr) {
			ends = append(ends, "\r\n")
		} else {
			ends = append(ends, "\n")
		}
		b = b[i+len(lf):]
	}
}

// endAfter is the end of the line that off lies in, nil when it is not near.
func endAfter(f io.ReaderAt, s survey, off int64) []string {
	b := make([]byte, min(headLimit, s.size-off))
	n, _ := f.ReadAt(b, off)
	if ends := endsIn(s.enc, b[:n]); len(ends) > 0 {
		return ends[:1]
	}
	return nil
}

// splice reads f with pieces put in place.
type splice struct {
	f      io.ReaderAt
	size   int64
	pieces []piece
	at     int64  // next byte of f
	text   []byte // rest of the current replacement
}

func (s *splice) Read(p []byte) (int, error) {
	for {
		if len(s.text) > 0 {
			n := copy(p, s.text)
			s.text = s.text[n:]
			return n, nil
		}
		end := s.size
		if len(s.pieces) > 0 {
			end = s.pieces[0].start
		}
		if s.at < end {
			n, err := s.f.ReadAt(p[:min(int64(len(p)), end-s.at)], s.at)
			s.at += int64(n)
			if n == 0 && errors.Is(err, io.EOF) {
				return 0, errors.New("the file became shorter while it was read")
			}
			if n > 0 {
				err = nil
			}
			return n, err
		}
		if len(s.pieces) == 0 {
			return 0, io.EOF
		}
		s.text, s.at = s.pieces[0].text, s.pieces[0].end
		s.pieces = s.pieces[1:]
	}
}
