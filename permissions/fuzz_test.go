package permissions

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// naiveMatch is the definition of a pattern, written down without regard to
// cost: stars inside a name, ** for any number of names.
func naiveMatch(pattern, names []string, strict bool) bool {
	if len(pattern) == 0 {
		return len(names) == 0
	}
	if pattern[0] == "**" {
		if strict && len(pattern) == 1 {
			return len(names) > 0
		}
		for i := range len(names) + 1 {
			if naiveMatch(pattern[1:], names[i:], strict) {
				return true
			}
		}
		return false
	}
	return len(names) > 0 && naiveName(characters(pattern[0]), characters(names[0])) && naiveMatch(pattern[1:], names[1:], strict)
}

func naiveName(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "*" {
		for i := range len(name) + 1 {
			if naiveName(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	return len(name) > 0 && pattern[0] == name[0] && naiveName(pattern[1:], name[1:])
}

// characters cuts a name into runes, and into bytes where it is no UTF-8.
func characters(s string) []string {
	var out []string
	for s != "" {
		_, n := utf8.DecodeRuneInString(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// naiveSplit takes a valid pattern below a top apart: literal "..", "." and
// empty names are resolved as text.
func naiveSplit(pattern string) []string {
	var out []string
	for _, n := range strings.Split(pattern, "/") {
		switch {
		case n == "" || n == ".":
		case n == ".." && len(out) == 0:
		case n == "..":
			out = out[:len(out)-1]
		case n == "**" && len(out) > 0 && out[len(out)-1] == "**":
		default:
			out = append(out, n)
		}
	}
	return out
}

func FuzzRule(f *testing.F) {
	for _, seed := range [][2]string{
		{"R:/p/**", "/p/a/b"}, {"R:/p/*", "/p"}, {"R:/**/x", "/a/x"}, {"W:/p/**", "/p"}, {"RW:/a*b*/c", "/axb/c"},
		{"R:/[x]*/{a}", "/[x]y/{a}"}, {"R:/p/../q/**", "/q"}, {"R:/\ufffdff*", "/\xffa"}, {"R:/*\ufffdfe", "/a\xfe"},
		{"R:/**/**/a", "/a"}, {"W:/*/**", "/a"}, {"R:/a**", "/ab"}, {"R:/*/..", "/a"}, {"# x", "/"}, {"R:/\u00e9*", "/\u00e9x"},
		{"R:/*\ufffda9", "/\u00e9"}, {"R:/\ufffdc3\ufffda9*", "/\u00e9"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, line, path string) {
		if len(line) > 200 || len(path) > 200 || strings.Count(line, "*") > 12 {
			t.Skip("the naive matcher takes exponential time")
		}
		rules, bad := parseRules([]string{line}, false)
		for _, b := range bad {
			if b.Code == "" || b.Message == "" || b.Line < 1 {
				t.Fatalf("parseRules(%q): bad = %+v", line, b)
			}
		}
		for _, r := range rules {
			if strings.Contains(r.Prefix(), "*") {
				t.Fatalf("parseRules(%q): prefix %q has a star", line, r.Prefix())
			}
			for _, n := range strings.Split(r.Prefix(), "/") {
				if n == ".." && r.anchor == anchorTop {
					t.Fatalf("parseRules(%q): prefix %q goes up from the top", line, r.Prefix())
				}
			}
			if r.anchor != anchorTop || strings.ContainsFunc(path, func(c rune) bool { return c >= firstByteRune && c != utf8.RuneError }) {
				continue
			}
			names := naiveSplit(path)
			real := "/" + strings.Join(names, "/")
			a := Anchored{Rule: r, Base: r.Prefix(), Status: RuleActive}
			pattern := naiveSplit(DecodePath(r.Pattern))
			for _, op := range []Op{OpRead, OpList, OpWrite, OpDelete} {
				letter := op.Access() == "R" && r.Read || op.Access() == "W" && r.Write
				want := letter && naiveMatch(pattern, names, op.Access() == "W")
				if got := a.Covers(Path{Op: op, Real: real}); got != want {
					t.Fatalf("%q covers %s of %q = %v, want %v", line, op, real, got, want)
				}
				// Folding never takes anything away.
				a.Fold, a.NFC = true, true
				if folded := a.Covers(Path{Op: op, Real: real, Fold: true}); want && !folded {
					t.Fatalf("%q covers %s of %q, but not on a volume that folds", line, op, real)
				}
				a.Fold, a.NFC = false, false
			}
		}
		if enc := EncodePath(path); !utf8.ValidString(enc) || DecodePath(enc) != path {
			t.Fatalf("EncodePath(%q) = %q, which decodes to %q", path, enc, DecodePath(enc))
		}
	})
}
