package files

import "strings"

// ignoreRule is one line of a .gitignore file, as gitignore(5) defines it.
type ignoreRule struct {
	segs    []segment
	negate  bool
	folders bool // matches folders only
	path    bool // matched against the path below the file's folder, else against the name
}

// parseIgnore reads a .gitignore file. Lines that can match nothing are left
// out.
func parseIgnore(data string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(strings.TrimPrefix(data, "\ufeff"), "\n") {
		if r, ok := parseIgnoreLine(strings.TrimSuffix(line, "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnoreLine(p string) (r ignoreRule, ok bool) {
	p = trimUnescaped(p)
	if p == "" || p[0] == '#' {
		return r, false
	}
	if p[0] == '!' {
		r.negate = true
		p = p[1:]
	}
	if q, ok := strings.CutSuffix(p, "/"); ok {
		r.folders = true
		p = q
	}
	r.path = strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	// A backslash at the very end makes a pattern invalid.
	if p == "" || (len(p)-len(strings.TrimRight(p, `\`)))%2 == 1 {
		return r, false
	}
	r.segs = newSegments(p)
	if !r.path {
		// Without a slash ** is no more than *.
		r.segs = []segment{newSegment(p)}
	}
	// To git a character is a byte: ? does not match é.
	for i := range r.segs {
		if r.segs[i].kind == segGeneral {
			r.segs[i].kind = segBytes
		}
	}
	return r, true
}

// trimUnescaped takes spaces off the end, but for one behind a backslash.
func trimUnescaped(p string) string {
	for strings.HasSuffix(p, " ") {
		before := p[:len(p)-1]
		if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
			break
		}
		p = before
	}
	return p
}

// ignores are the rules that hold in one folder: those of its own .gitignore
// and behind them those of the folders above.
type ignores struct {
	above *ignores
	rules []ignoreRule
	// A path below the searched folder becomes one below the folder of the
	// rules by losing strip bytes or by gaining prefix in front.
	strip  int
	prefix string
}

// match tells whether an entry of the folder dir ("" or ending in a slash) is
// ignored. The last rule that matches decides, the deepest file first. That
// nothing in an ignored folder can be taken back is up to the walk, which does
// not enter it.
func (g *ignores) match(dir, name string, folder bool) bool {
	for ; g != nil; g = g.above {
		var names []string
		for i := len(g.rules) - 1; i >= 0; i-- {
			r := &g.rules[i]
			if r.folders && !folder {
				continue
			}
			hit := false
			if r.path {
				if names == nil {
					names = strings.Split(g.prefix+dir[g.strip:]+name, "/")
				}
				hit = matchPath(r.segs, names)
			} else {
				hit = r.segs[0].match(name)
			}
			if hit {
				return !r.negate
			}
		}
	}
	return false
}
