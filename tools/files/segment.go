package files

import (
	"strings"
	"unicode/utf8"
)

// segment is a pattern for one name of a path: * any characters, ? one
// character, [a-z] or [!a-z] one of a class, \x the character x itself.
type segment struct {
	kind segmentKind
	text string
}

type segmentKind uint8

const (
	segGeneral   segmentKind = iota
	segBytes                 // as segGeneral, but a character is a byte
	segLiteral               // text
	segPrefix                // text*
	segSuffix                // *text
	segContains              // *text*
	segAny                   // *
	segDeep                  // ** as an entire segment: any number of names, none included
	segDeepBelow             // ** at the end: at least one name
)

func newSegment(p string) segment {
	if strings.ContainsAny(p, `?[\`) {
		return segment{segGeneral, p}
	}
	inner := strings.Trim(p, "*")
	before, after := strings.HasPrefix(p, "*"), strings.HasSuffix(p, "*")
	switch {
	case p != "" && inner == "":
		return segment{segAny, ""}
	case strings.Contains(inner, "*"):
		return segment{segGeneral, p}
	case before && after:
		return segment{segContains, inner}
	case before:
		return segment{segSuffix, inner}
	case after:
		return segment{segPrefix, inner}
	}
	return segment{segLiteral, p}
}

func (s segment) match(name string) bool {
	switch s.kind {
	case segLiteral:
		return name == s.text
	case segPrefix:
		return strings.HasPrefix(name, s.text)
	case segSuffix:
		return strings.HasSuffix(name, s.text)
	case segContains:
		return strings.Contains(name, s.text)
	case segAny, segDeep, segDeepBelow:
		return true
	}
	next := utf8.DecodeRuneInString
	if s.kind == segBytes {
		next = oneByte
	}
	return matchName(s.text, name, next)
}

// step tells the first character of a string and its length, 0 at the end.
type step func(string) (rune, int)

func oneByte(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	return rune(s[0]), 1
}

// matchName goes back to the last star only, which is enough, so the work is
// bounded by the product of the lengths.
func matchName(p, name string, next step) bool {
	star, retry := -1, 0
	i, j := 0, 0
	for j < len(name) {
		if i < len(p) && p[i] == '*' {
			star, retry = i, j
			i++
			continue
		}
		if i < len(p) {
			r, n := next(name[j:])
			if ok, width := matchOne(p[i:], r, name[j:j+n], next); ok {
				i, j = i+width, j+n
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n := next(name[retry:])
		retry += n
		i, j = star+1, retry
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// matchOne matches one character, r with the bytes raw, against the start of p
// and returns how much of p that took.
func matchOne(p string, r rune, raw string, next step) (ok bool, width int) {
	switch p[0] {
	case '?':
		return true, 1
	case '\\':
		if len(p) == 1 {
			return false, 1
		}
		_, n := next(p[1:])
		return p[1:1+n] == raw, 1 + n
	case '[':
		if in, width := matchClass(p, r, next); width > 0 {
			return in, width
		}
		// A class without an end matches nothing, as in git.
		return false, 1
	}
	_, n := next(p)
	return p[:n] == raw, n
}

// matchClass reads a class such as [a-z], [!a-z], []a] or [[:digit:]]. width is
// 0 when it has no end.
func matchClass(p string, r rune, next step) (in bool, width int) {
	i := 1
	not := i < len(p) && (p[i] == '!' || p[i] == '^')
	if not {
		i++
	}
	for first := true; i < len(p); first = false {
		if p[i] == ']' && !first {
			return in != not, i + 1
		}
		if strings.HasPrefix(p[i:], "[:") {
			if end := strings.Index(p[i:], ":]"); end > 0 {
				in = in || inNamedClass(p[i+2:i+end], r)
				i += end + 2
				continue
			}
		}
		lo, n := classRune(p[i:], next)
		if i += n; n == 0 {
			return false, 0
		}
		hi := lo
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			hi, n = classRune(p[i+1:], next)
			if n == 0 {
				return false, 0
			}
			i += 1 + n
		}
		in = in || lo <= r && r <= hi
	}
	return false, 0
}

func classRune(p string, next step) (rune, int) {
	skip := 0
	if strings.HasPrefix(p, `\`) {
		skip = 1
	}
	r, n := next(p[skip:])
	if n == 0 {
		return 0, 0
	}
	return r, skip + n
}

// inNamedClass knows the POSIX classes, for ASCII.
func inNamedClass(name string, r rune) bool {
	between := func(lo, hi rune) bool { return lo <= r && r <= hi }
	upper, lower, digit := between('A', 'Z'), between('a', 'z'), between('0', '9')
	switch name {
	case "alpha":
		return upper || lower
	case "digit":
		return digit
	case "alnum":
		return upper || lower || digit
	case "upper":
		return upper
	case "lower":
		return lower
	case "xdigit":
		return digit || between('a', 'f') || between('A', 'F')
	case "space":
		return r == ' ' || between('\t', '\r')
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return between('!', '~') && !upper && !lower && !digit
	case "print":
		return between(' ', '~')
	case "graph":
		return between('!', '~')
	case "cntrl":
		return r < ' ' || r == 0x7f
	}
	return false
}

// newSegments splits a pattern at its slashes. A pattern that ends in "/**"
// does not match the folder in front of it.
func newSegments(p string) []segment {
	parts := strings.Split(p, "/")
	segs := make([]segment, 0, len(parts))
	for i, part := range parts {
		switch {
		case part != "**":
			segs = append(segs, newSegment(part))
		case i == len(parts)-1:
			segs = append(segs, segment{kind: segDeepBelow})
		case len(segs) == 0 || segs[len(segs)-1].kind != segDeep:
			segs = append(segs, segment{kind: segDeep})
		}
	}
	return segs
}

// matchPath is matchName with names for characters and ** for the star.
func matchPath(segs []segment, names []string) bool {
	deep, retry := -1, 0
	i, j := 0, 0
	for j < len(names) {
		if i < len(segs) && segs[i].kind == segDeep {
			deep, retry = i, j
			i++
			continue
		}
		if i < len(segs) {
			if segs[i].kind == segDeepBelow {
				return true
			}
			if segs[i].match(names[j]) {
				i, j = i+1, j+1
				continue
			}
		}
		if deep < 0 {
			return false
		}
		retry++
		i, j = deep+1, retry
	}
	return i == len(segs)
}
