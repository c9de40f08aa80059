package permissions

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/glob"
)

// RuleStatus says whether an anchored rule covers anything.
type RuleStatus string

// The states of a rule under one root.
const (
	RuleActive    RuleStatus = "active"
	RuleMoved     RuleStatus = "moved"     // its prefix resolves to another place than when it was saved
	RuleElsewhere RuleStatus = "elsewhere" // relative, and saved for another root
	RuleInvalid   RuleStatus = "invalid"   // its prefix is no possible path on this system
)

// Anchored is a Rule together with what its fixed prefix resolves to on this
// machine. Only an active one covers anything.
type Anchored struct {
	Rule
	Base   string // the resolved prefix: absolute, slash-separated
	Status RuleStatus
	Fold   bool // the volume of Base folds case
	NFC    bool // the volume of Base normalises names
}

// Covers reports whether the rule grants p.Op on p.Real. It says nothing of
// p.Second, nor of what a walk meets below: see CoversTree.
func (a Anchored) Covers(p Path) bool {
	names, ok := a.below(p)
	return ok && matchSegments(a.rest, names, a.fold(p), a.nfc(p), p.Op.Access() == "W")
}

// CoversTree reports whether the rule grants p.Op on everything below p.Real:
// its pattern ends in ** and p.Real lies at or below the place in front of it.
func (a Anchored) CoversTree(p Path) bool {
	if n := len(a.rest); n == 0 || !a.rest[n-1].deep {
		return false
	}
	names, ok := a.below(p)
	return ok && matchSegments(a.rest, names, a.fold(p), a.nfc(p), false)
}

// Both volumes must agree before two spellings count as one name.
func (a Anchored) fold(p Path) bool { return a.Fold && p.Fold }
func (a Anchored) nfc(p Path) bool  { return a.NFC && p.NFC }

// below gives the names of p.Real under the rule's base, if the rule is active,
// has the letter for p.Op and p.Real is the base or inside it.
func (a Anchored) below(p Path) ([]string, bool) {
	if a.Status != RuleActive || a.Base == "" || p.Real == "" || p.Err != "" {
		return nil, false
	}
	switch p.Op {
	case OpRead, OpList:
		if !a.Read {
			return nil, false
		}
	case OpWrite, OpDelete:
		if !a.Write {
			return nil, false
		}
	default:
		return nil, false
	}
	rel, ok := relativeTo(canonical(a.Base, a.fold(p), a.nfc(p)), canonical(p.Real, a.fold(p), a.nfc(p)))
	if !ok {
		return nil, false
	}
	if rel == "" {
		return nil, true
	}
	names := strings.Split(rel, "/")
	for _, n := range names {
		if n == "" || n == "." || n == ".." {
			return nil, false
		}
	}
	return names, true
}

// relativeTo returns path without the folder base in front, at a boundary
// between names only.
func relativeTo(base, path string) (string, bool) {
	if base == path {
		return "", true
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	if path == base {
		return "", true
	}
	return strings.CutPrefix(path, base)
}

// segment is one name of a pattern with wildcards in it or in front of it.
type segment struct {
	deep  bool   // "**": any number of names
	any   bool   // "*" alone: any one name
	text  string // without a star: the literal name; else as written
	globs [4]*glob.Pattern
}

// newSegment compiles one name. Every character but the star is quoted; the
// matcher never sees a slash, so a name is all it can match.
func newSegment(name string) (segment, *fault) {
	switch {
	case name == "**":
		return segment{deep: true, text: name}, nil
	case name == "*":
		return segment{any: true, text: name}, nil
	case !strings.Contains(name, "*"):
		return segment{text: name}, nil
	case strings.Contains(name, "**"):
		return segment{}, faultf("glued_stars", "** must stand between slashes: %q", name)
	}
	pieces := strings.Split(name, "*")
	if len(pieces)-1 > maxSegmentStars {
		return segment{}, faultf("too_many_stars", "a name in the rule has %d stars; at most %d are possible", len(pieces)-1, maxSegmentStars)
	}
	s := segment{text: name}
	var compiled [len(s.globs)]string
	for v := range s.globs {
		quoted := make([]string, len(pieces))
		for i, p := range pieces {
			text, ok := globText(canonical(p, v&1 != 0, v&2 != 0))
			if !ok {
				return segment{}, faultf("encoding", "the rule holds a character that cannot be matched: %q", name)
			}
			quoted[i] = glob.QuoteMeta(text)
		}
		compiled[v] = strings.Join(quoted, "*")
		if same := slices.Index(compiled[:v], compiled[v]); same >= 0 {
			s.globs[v] = s.globs[same] // most names are spelled alike on every volume
			continue
		}
		g, err := glob.Compile(compiled[v])
		if err != nil {
			return segment{}, faultf("grammar", "the name %q cannot be matched: %v", name, err)
		}
		s.globs[v] = g
	}
	return s, nil
}

// match reports whether the segment, which is not deep, matches one name that
// is already in canonical form.
func (s segment) match(name string, fold, nfc bool) bool {
	if s.any {
		return true
	}
	v := 0
	if fold {
		v |= 1
	}
	if nfc {
		v |= 2
	}
	if s.globs[v] == nil {
		return canonical(s.text, fold, nfc) == name
	}
	if len(name) > maxSegmentBytes {
		return false
	}
	text, ok := globText(name)
	return ok && s.globs[v].Match(text)
}

// firstByteRune starts the runes that stand for bytes which are no UTF-8: the
// matcher takes UTF-8 only.
const firstByteRune = 0x10FF80

// globText writes a name as valid UTF-8, different for different names. A name
// that already holds one of the stand-in runes has no such form.
func globText(s string) (string, bool) {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r >= firstByteRune }) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			b.WriteRune(firstByteRune + rune(s[i]-0x80))
		case r >= firstByteRune:
			return "", false
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String(), true
}

// matchSegments matches a pattern against the names below its base. With
// strict, a ** at the end needs at least one name, so that X/** does not cover
// X itself.
func matchSegments(pattern []segment, names []string, fold, nfc, strict bool) bool {
	// reach[j] says that the pattern up to here matches the first j names.
	reach := make([]bool, len(names)+1)
	next := make([]bool, len(names)+1)
	reach[0] = true
	for i, s := range pattern {
		clear(next)
		if s.deep {
			last := strict && i == len(pattern)-1
			open := false
			for j := range reach {
				next[j] = open || reach[j] && !last
				open = open || reach[j]
			}
		} else {
			for j, name := range names {
				next[j+1] = reach[j] && s.match(name, fold, nfc)
			}
		}
		reach, next = next, reach
		if !slices.Contains(reach, true) {
			return false
		}
	}
	return reach[len(names)]
}
