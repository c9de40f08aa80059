package files

import (
	"bytes"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// sniffLimit is how far into a file bytes that no text has are looked for.
const sniffLimit = 8 << 10

// looksLikeText decides from the start of a file. Valid UTF-8 without a NUL is
// text whatever it starts with: magic numbers such as "BM" or "MZ" are words
// too. A NUL behind a complete line does not make a file binary here (a log
// after a crash, a sparse file): the page reader stops before it.
func looksLikeText(enc encoding, head []byte) bool {
	if enc.unit() == 2 {
		return true
	}
	head = head[:min(len(head), sniffLimit)]
	before, _, nul := bytes.Cut(head, []byte{0})
	if enc != encLatin1 && !nul {
		return true
	}
	if nul && bytes.IndexByte(before, '\n') < 0 {
		return false
	}
	controls := 0
	for _, c := range before {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", rune(c)) {
			controls++
		}
	}
	if enc == encLatin1 && (controls*100 > len(before) || bytes.HasPrefix(head, []byte("%PDF-"))) {
		return false
	}
	return !(nul || controls > 0) || !knownBinary(head)
}

// knownBinary reports that the start is the magic number of a format that is
// no text.
func knownBinary(head []byte) bool {
	m := mimetype.Detect(head)
	if m.Is("application/octet-stream") {
		return false
	}
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return false
		}
	}
	return true
}

// mediaType names the type of a file from its start, without parameters:
// "image/png", "application/octet-stream".
func mediaType(head []byte) string {
	t, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	return t
}
