package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"unicode/utf8"
)

// survey is what an edit needs to know about a file before it touches it.
type survey struct {
	size   int64
	hash   string // SHA-256 in hex
	enc    encoding
	binary bool   // no text that could be edited
	lf     int64  // line ends: LF alone …
	crlf   int64  // … and CR LF
	last   string // the last line end, LF if there is none
}

// takeSurvey reads f once from start to end, in memory that does not grow with
// it. Everything read is also written to tee, if that is not nil.
func takeSurvey(ctx context.Context, f io.ReaderAt, size int64, tee io.Writer) (survey, error) {
	s := survey{last: "\n"}
	hash := sha256.New()
	buf := make([]byte, chunkSize+2*utf8.UTFMax)
	carry := 0 // bytes at the start of buf that ended the last piece inside a character or a CR LF
	valid := true
	for s.size < size {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		piece := buf[carry : carry+int(min(chunkSize, size-s.size))]
		n, err := f.ReadAt(piece, s.size)
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return s, err
		}
		piece = piece[:n]
		hash.Write(piece)
		if tee != nil {
			if _, err := tee.Write(piece); err != nil {
				return s, err
			}
		}
		b := buf[:carry+n]
		if s.size == 0 {
			s.enc = byBOM(b)
			if b = b[len(s.enc.bom()):]; !looksEditable(s.enc, b) {
				s.binary = true
			}
		}
		s.size += int64(n)
		use := len(b)
		if s.size < size {
			use = s.enc.whole(b)
			if cr := s.enc.ascii("\r"); bytes.HasSuffix(b[:use], cr) {
				use -= len(cr)
			}
		}
		if s.enc == encUTF8 && valid {
			valid = utf8.Valid(b[:use])
		}
		s.countEnds(b[:use])
		carry = copy(buf, b[use:])
	}
	if !valid {
		s.enc = encLatin1
	}
	s.hash = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}

func (s *survey) countEnds(b []byte) {
	crlf := s.enc.count(b, s.enc.ascii("\r\n"))
	s.crlf += crlf
	s.lf += s.enc.count(b, s.enc.ascii("\n")) - crlf
	if i := s.enc.lastIndex(b, s.enc.ascii("\n")); i >= 0 {
		s.last = "\n"
		if bytes.HasSuffix(b[:i], s.enc.ascii("\r")) {
			s.last = "\r\n"
		}
	}
}

// ends names the line ends: "lf", "crlf", "mixed", or "" for a file of one line.
func (s *survey) ends() string {
	switch {
	case s.lf > 0 && s.crlf > 0:
		return "mixed"
	case s.crlf > 0:
		return "crlf"
	case s.lf > 0:
		return "lf"
	}
	return ""
}

// looksEditable is stricter than looksLikeText: a NUL near the start means that
// changing "text" in the file would break it.
func looksEditable(enc encoding, head []byte) bool {
	head = head[:min(len(head), headLimit)]
	if enc.index(head, enc.ascii("\x00")) >= 0 {
		return false
	}
	if enc == encUTF8 && !utf8.Valid(head[:enc.whole(head)]) {
		enc = encLatin1
	}
	return looksLikeText(enc, head)
}
