package files

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// finder looks for one query in the content of files. It is safe for use by
// several goroutines.
type finder struct {
	literal []byte         // case-sensitive text, nil for a regular expression
	re      *regexp.Regexp // matched line by line
	fast    *regexp.Regexp // the same over many lines at once, nil when that could differ
	ascii   bool           // the query has ASCII characters only
	context int
}

const (
	maxLineShown    = 400
	maxContextShown = 200
)

func newFinder(query string, isRegexp, caseSensitive bool, context int) (*finder, error) {
	f := &finder{context: context, ascii: true}
	for _, c := range []byte(query) {
		f.ascii = f.ascii && c < utf8.RuneSelf
	}
	if strings.ContainsAny(query, "\n") && !isRegexp {
		return nil, errors.New("query holds a line end, but files are searched line by line; search for one line of it")
	}
	if !isRegexp && caseSensitive {
		f.literal = []byte(query)
		return f, nil
	}
	expr := query
	if !isRegexp {
		expr = regexp.QuoteMeta(query)
	}
	flags := ""
	if !caseSensitive {
		flags = "(?i)"
	}
	var err error
	if f.re, err = regexp.Compile(flags + expr); err != nil {
		return nil, fmt.Errorf("query is no regular expression (RE2 syntax): %w; set regex to false to search for the text itself", err)
	}
	// Flags inside and \A, \z mean something else on many lines.
	if !isRegexp || !strings.Contains(expr, "(?") && !strings.Contains(expr, `\A`) && !strings.Contains(expr, `\z`) {
		f.fast = regexp.MustCompile("(?m)" + flags + expr)
	}
	return f, nil
}

// match is one line that holds the query.
type match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line,omitempty"`
	Column int      `json:"column,omitempty"` // in characters, from 1
	Text   string   `json:"text,omitempty"`   // the line, or a part of a long one
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// isBinary reports a file that is not searched.
func isBinary(data []byte) bool {
	return byBOM(data).unit() == 1 && bytes.IndexByte(data[:min(len(data), sniffLimit)], 0) >= 0
}

// find returns up to limit matches in the content of a file.
func (f *finder) find(data []byte, limit int) []match {
	enc := byBOM(data)
	data = data[len(enc.bom()):]
	switch {
	case enc.unit() == 2:
		data = []byte(enc.decode(data))
	case enc == encUTF8 && !f.ascii && !utf8.Valid(data):
		enc = encLatin1
		data = []byte(enc.decode(data))
	}
	s := scan{finder: f, data: data, fast: f.fast}
	if s.fast != nil && bytes.IndexByte(data, '\r') >= 0 {
		// $ would not match before CR LF.
		s.fast = nil
	}
	var out []match
	for len(out) < limit {
		start, end, at, ok := s.next()
		if !ok {
			break
		}
		out = append(out, s.match(start, end, at))
	}
	if enc == encUTF8 && len(out) > 0 && !utf8.Valid(data) {
		for i := range out {
			out[i].toLatin1()
		}
	}
	return out
}

// scan goes through one file.
type scan struct {
	*finder
	data    []byte
	fast    *regexp.Regexp
	at      int // start of the next line
	counted int // offset up to which line numbers are counted
	line    int // its number, from 0
}

// next finds the next line with the query: where it starts and ends, and
// where in it the query is.
func (s *scan) next() (start, end, at int, ok bool) {
	for s.at < len(s.data) {
		start = s.at
		switch {
		case s.literal != nil:
			i := bytes.Index(s.data[s.at:], s.literal)
			if i < 0 {
				return 0, 0, 0, false
			}
			start = s.at + i
		case s.fast != nil:
			m := s.fast.FindIndex(s.data[s.at:])
			if m == nil {
				return 0, 0, 0, false
			}
			start = s.at + m[0]
		}
		at = start
		start = bytes.LastIndexByte(s.data[:start], '\n') + 1
		end = len(s.data)
		s.at = end
		if i := bytes.IndexByte(s.data[at:], '\n'); i >= 0 {
			end = at + i
			s.at = end + 1
		}
		if start == len(s.data) {
			break // behind the last line end there is no line
		}
		end = start + len(bytes.TrimSuffix(s.data[start:end], []byte("\r")))
		if s.literal != nil {
			if at+len(s.literal) <= end {
				return start, end, at, true
			}
			continue
		}
		if m := s.re.FindIndex(s.data[start:end]); m != nil {
			return start, end, start + m[0], true
		}
	}
	return 0, 0, 0, false
}

func (s *scan) match(start, end, at int) match {
	s.line += bytes.Count(s.data[s.counted:start], []byte("\n"))
	s.counted = start
	m := match{Line: s.line + 1, Column: utf8.RuneCount(s.data[start:at]) + 1}
	m.Text = excerpt(s.data[start:end], at-start, maxLineShown)
	from := start
	for range s.context {
		if from == 0 {
			break
		}
		to := from - 1
		from = bytes.LastIndexByte(s.data[:to], '\n') + 1
		m.Before = append([]string{contextLine(s.data[from:to])}, m.Before...)
	}
	rest := s.data[end:]
	for range s.context {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 || i+1 == len(rest) {
			break
		}
		rest = rest[i+1:]
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i]
		}
		m.After = append(m.After, contextLine(line))
	}
	return m
}

func contextLine(b []byte) string {
	return excerpt(bytes.TrimSuffix(b, []byte("\r")), 0, maxContextShown)
}

// excerpt is a line, or the part around at of a line with more than n bytes,
// cut between characters.
func excerpt(line []byte, at, n int) string {
	if len(line) <= n {
		return string(line)
	}
	from := max(0, min(at-n/4, len(line)-n))
	for from > 0 && from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	to := min(from+n, len(line))
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	s := string(line[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(line) {
		s += "…"
	}
	return s
}

// toLatin1 repairs text of a file that is not valid UTF-8; the ellipses of
// excerpt stay.
func (m *match) toLatin1() {
	m.Text = asLatin1(m.Text)
	for _, list := range [][]string{m.Before, m.After} {
		for i := range list {
			list[i] = asLatin1(list[i])
		}
	}
}

func asLatin1(s string) string {
	body, dots := strings.CutSuffix(s, "…")
	body, front := strings.CutPrefix(body, "…")
	s = encLatin1.decode([]byte(body))
	if front {
		s = "…" + s
	}
	if dots {
		s += "…"
	}
	return s
}
