package secrets

import (
	"slices"
	"strings"
)

// shape is a kind of token that can be told from its beginning.
type shape struct {
	prefix string
	min    int             // characters after the prefix, at least
	exact  bool            // exactly min, no more
	chars  func(byte) bool // what may follow the prefix
	digit  bool            // there must be a digit, so that words with hyphens stay
	keep   bool            // the prefix itself is no secret and stays
}

// shapes are the token kinds of the services that people use most.
var shapes = []shape{
	{prefix: "sk-", min: 20, chars: wordChar, digit: true},
	{prefix: "sk_live_", min: 16, chars: wordChar},
	{prefix: "sk_test_", min: 16, chars: wordChar},
	{prefix: "rk_live_", min: 16, chars: wordChar},
	{prefix: "ghp_", min: 20, chars: alnum},
	{prefix: "gho_", min: 20, chars: alnum},
	{prefix: "ghu_", min: 20, chars: alnum},
	{prefix: "ghs_", min: 20, chars: alnum},
	{prefix: "ghr_", min: 20, chars: alnum},
	{prefix: "github_pat_", min: 20, chars: wordChar},
	{prefix: "glpat-", min: 16, chars: wordChar},
	{prefix: "xoxa-", min: 10, chars: wordChar},
	{prefix: "xoxb-", min: 10, chars: wordChar},
	{prefix: "xoxe-", min: 10, chars: wordChar},
	{prefix: "xoxo-", min: 10, chars: wordChar},
	{prefix: "xoxp-", min: 10, chars: wordChar},
	{prefix: "xoxr-", min: 10, chars: wordChar},
	{prefix: "xoxs-", min: 10, chars: wordChar},
	{prefix: "xapp-", min: 10, chars: wordChar},
	{prefix: "AKIA", min: 16, exact: true, chars: upperDigit},
	{prefix: "ASIA", min: 16, exact: true, chars: upperDigit},
	{prefix: "AIza", min: 35, chars: wordChar},
	{prefix: "zeroclaw_", min: 43, chars: wordChar}, // our own, for other programs
	{prefix: "npm_", min: 30, chars: alnum},
	{prefix: "hf_", min: 30, chars: alnum},
	{prefix: "pypi-", min: 40, chars: wordChar, digit: true},
	{prefix: "eyJ", min: 40, chars: tokenChar},
	{prefix: "Bearer ", min: 16, chars: tokenChar, keep: true},
	{prefix: "bearer ", min: 16, chars: tokenChar, keep: true},
	{prefix: "BEARER ", min: 16, chars: tokenChar, keep: true},
	{prefix: "Authorization: Basic ", min: 8, chars: tokenChar, keep: true},
	{prefix: "authorization: basic ", min: 8, chars: tokenChar, keep: true},
}

// span is a half-open range of bytes to replace.
type span struct{ start, end int }

// without replaces the spans, in any order and overlapping or not.
func without(s string, found []span) string {
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		if f.end <= at {
			continue
		}
		if f.start >= at {
			b.WriteString(s[at:f.start])
			b.WriteString(Redacted)
		}
		at = f.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// at tells whether a token of this shape begins at start, where its prefix
// stands. next is how far it has looked.
func (sh *shape) at(s string, start int) (found span, ok bool, next int) {
	body := start + len(sh.prefix)
	if start > 0 && alnum(s[start-1]) && !escaped(s, start-1) {
		return span{}, false, body
	}
	end, digit := body, false
	for end < len(s) && sh.chars(s[end]) {
		digit = digit || s[end] >= '0' && s[end] <= '9'
		end++
	}
	n := end - body
	if n < sh.min || sh.exact && n != sh.min || sh.digit && !digit {
		return span{}, false, end
	}
	if sh.keep {
		start = body
	}
	return span{start, end}, true, end
}

// findKeys appends the places of PEM private keys (RFC 7468). One that is cut
// off is taken to its last line that could be part of it.
func findKeys(s string, found []span) []span {
	const begin, end, label = "-----BEGIN ", "-----END ", "PRIVATE KEY-----"
	for at, noEnd := 0, false; ; {
		i := strings.Index(s[at:], begin)
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len(begin)
		head := s[at:min(len(s), at+40)]
		j := strings.Index(head, label)
		if j < 0 || strings.ContainsAny(head[:j], "\r\n") {
			continue
		}
		at += j + len(label)
		if !noEnd {
			if k := strings.Index(s[at:], end); k >= 0 {
				at += k + len(end)
				if l := strings.Index(s[at:min(len(s), at+40)], "-----"); l >= 0 {
					at += l + len("-----")
				}
				found = append(found, span{start, at})
				continue
			}
			noEnd = true
		}
		for at < len(s) && pemChar(s[at]) {
			at++
		}
		found = append(found, span{start, at})
	}
}

// escaped reports whether the letter at i ends an escape, as in a JSON text: then
// no word goes on behind it.
func escaped(s string, i int) bool {
	return i > 0 && s[i-1] == '\\' && strings.IndexByte("bfnrt", s[i]) >= 0
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func upperDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' }

func wordChar(c byte) bool { return alnum(c) || c == '_' || c == '-' }

// tokenChar is token68 of RFC 9110.
func tokenChar(c byte) bool {
	return wordChar(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='
}

// pemChar is what a line of a key may hold, escaped newlines included.
func pemChar(c byte) bool {
	return alnum(c) || strings.IndexByte("+/=\r\n \t\\:,-", c) >= 0
}
