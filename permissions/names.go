package permissions

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// EncodePath writes a path as valid UTF-8, so that it survives JSON: each byte
// that is no UTF-8 becomes U+FFFD and two lower-case hex digits, and so do the
// three bytes of a U+FFFD that the name really holds. Any other name stays as
// it is. DecodePath turns it back; the two are inverse for every name.
func EncodePath(s string) string {
	if !strings.Contains(s, "\ufffd") && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		for _, c := range []byte(s[i : i+n]) {
			b.WriteString("\ufffd")
			b.WriteByte("0123456789abcdef"[c>>4])
			b.WriteByte("0123456789abcdef"[c&15])
		}
		i += n
	}
	return b.String()
}

// DecodePath reads what EncodePath wrote. Only bytes from 80 to FF can be
// written that way, so a decoded name never gains a slash, a dot or a NUL.
// Anything else, a lone U+FFFD included, stays as it is.
func DecodePath(s string) string {
	const mark = "\ufffd"
	if !strings.Contains(s, mark) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		rest := s[i:]
		if strings.HasPrefix(rest, mark) && len(rest) >= len(mark)+2 {
			v, err := strconv.ParseUint(rest[len(mark):len(mark)+2], 16, 8)
			if err == nil && v >= 0x80 {
				b.WriteByte(byte(v))
				i += len(mark) + 2
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// Visible writes a path or a command for a sentence that a person reads:
// control, format and other characters without a shape of their own become
// escapes such as \n, \x1b or \u202e.
func Visible(s string) string {
	q := strconv.Quote(EncodePath(s))
	q = q[1 : len(q)-1]
	// Quote also escapes what is harmless here.
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q)
}

// foldName maps names that a case-folding volume holds for the same to one
// form. Bytes that are no UTF-8 stay as they are.
func foldName(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteRune(foldRune(r))
		i += n
	}
	return b.String()
}

// foldRune picks one member of the set of runes that fold to each other: the
// smallest, lowered when it is an ASCII letter so that it meets ToLower.
func foldRune(r rune) rune {
	low := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		low = min(low, f)
	}
	if 'A' <= low && low <= 'Z' {
		low += 'a' - 'A'
	}
	return low
}

// canonical brings a name or path into the form that a volume compares.
func canonical(s string, fold, nfc bool) string {
	if nfc {
		s = norm.NFC.String(s)
	}
	if fold {
		s = foldName(s)
		if nfc {
			s = norm.NFC.String(s)
		}
	}
	return s
}

// shown is how much of a name a refusal repeats, in bytes.
const shown = 300

// short is Visible for a name that may be of any length: the caller sent it
// and knows the rest.
func short(s string) string {
	if len(s) > shown {
		s = strings.ToValidUTF8(s[:shown], "") + "…"
	}
	return Visible(s)
}
