package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
)

// Filter selects entries. Empty fields select everything.
type Filter struct {
	Text    string // somewhere in the line, without regard to case
	Tool    string // exact full name
	Outcome string // exact
	Before  uint64 // only lines before the one with this Seq; 0 is from the newest on
	Limit   int    // of Query: at most this many; 0 is 100
}

// Query returns matching entries, newest first, and whether there are more:
// the Seq of the last one is the Before of the next page.
func (l *Log) Query(f Filter) (entries []Entry, more bool, err error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	for e, err := range l.Entries(f) {
		if err != nil {
			return entries, false, err
		}
		if len(entries) == f.Limit {
			return entries, true, nil
		}
		entries = append(entries, e)
	}
	return entries, false, nil
}

// Entries yields all matching entries, newest first, reading no more of the
// files than is asked for. Lines that are not entries are skipped. After an
// error it ends.
func (l *Log) Entries(f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := l.Flush(); err != nil {
			yield(Entry{}, err)
			return
		}
		l.written(f)(yield)
	}
}

// written is Entries without those that wait to be written.
func (l *Log) written(f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := f.scan()
		for i := 0; i <= l.config.Keep; i++ {
			more, err := s.part(l.part(i), func(e Entry) bool { return yield(e, nil) })
			if err != nil {
				yield(Entry{}, fmt.Errorf("read the audit log: %w", err))
				return
			}
			if !more {
				return
			}
		}
	}
}

// scan is one reading of the files.
type scan struct {
	filter Filter
	text   []byte
	need   [][]byte // what every matching line holds literally
	before uint64   // falls from line to line: a file that rotates meanwhile is read once
}

func (f Filter) scan() *scan {
	s := &scan{filter: f, text: []byte(strings.ToLower(f.Text)), before: f.Before}
	if s.before == 0 {
		s.before = math.MaxUint64
	}
	for key, value := range map[string]string{"tool": f.Tool, "outcome": f.Outcome} {
		if value != "" {
			pair, err := json.Marshal(map[string]string{key: value})
			if err == nil {
				s.need = append(s.need, bytes.Trim(pair, "{}"))
			}
		}
	}
	return s
}

// part reads one file and reports whether an older one is wanted as well.
func (s *scan) part(path string, yield func(Entry) bool) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines, err := newBackward(file)
	for err == nil {
		var line []byte
		if line, err = lines.next(); err != nil {
			break
		}
		if e, ok := s.match(line); ok && !yield(e) {
			return false, nil
		}
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

func (s *scan) match(line []byte) (Entry, bool) {
	seq := seqOf(line)
	if seq == 0 || seq >= s.before {
		return Entry{}, false
	}
	for _, need := range s.need {
		if !bytes.Contains(line, need) {
			return Entry{}, false
		}
	}
	if len(s.text) > 0 && !bytes.Contains(bytes.ToLower(line), s.text) {
		return Entry{}, false
	}
	var e Entry
	if json.Unmarshal(line, &e) != nil || e.Seq != seq || e.Time.IsZero() {
		return Entry{}, false
	}
	s.before = seq
	if s.filter.Tool != "" && e.Tool != s.filter.Tool || s.filter.Outcome != "" && e.Outcome != s.filter.Outcome {
		return Entry{}, false
	}
	return e, true
}

// seqOf reads the number of a line, 0 if it has none.
func seqOf(line []byte) uint64 {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return 0
	}
	digits, _, _ := bytes.Cut(rest, []byte{','})
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// newest is the Seq of the newest line of all files, 0 if there is none.
func (l *Log) newest() (uint64, error) {
	for e, err := range l.written(Filter{}) {
		return e.Seq, err
	}
	return 0, nil
}
