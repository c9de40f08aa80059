package files

import (
	"fmt"
	"strings"
)

// glob is what search_files takes to pick files: with a slash it is matched
// against the path below the folder, without one against the name at any depth.
type glob []globPattern

type globPattern struct {
	segs  []segment
	names bool // matches the last name only
}

// maxBraces bounds what {a,b}{c,d}… may stand for.
const maxBraces = 256

func newGlob(pattern string) (glob, error) {
	all, err := expandBraces([]string{pattern})
	if err != nil {
		return nil, err
	}
	var g glob
	for _, p := range all {
		deep := !strings.Contains(p, "/")
		p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
		if strings.HasSuffix(p, "/") {
			p += "**"
		}
		for strings.HasPrefix(p, "**/") {
			p, deep = p[3:], true
		}
		if p == "" || strings.Contains("/"+p+"/", "/../") {
			return nil, fmt.Errorf("glob %q matches nothing: write a name like *.go or a path below the folder like src/**/*.go", pattern)
		}
		segs := newSegments(p)
		switch {
		case deep && len(segs) == 1:
			g = append(g, globPattern{segs, true})
		case deep:
			g = append(g, globPattern{append([]segment{{kind: segDeep}}, segs...), false})
		default:
			g = append(g, globPattern{segs, false})
		}
	}
	return g, nil
}

// expandBraces replaces the first {a,b} of each pattern by its choices, until
// there is none.
func expandBraces(ps []string) ([]string, error) {
	for {
		var out []string
		found := false
		for _, p := range ps {
			open := strings.IndexByte(p, '{')
			end := strings.IndexByte(p[max(open, 0):], '}') + max(open, 0)
			if open < 0 || end < open || !strings.Contains(p[open:end], ",") {
				out = append(out, p)
				continue
			}
			if inner := strings.LastIndexByte(p[:end], '{'); inner > open {
				open = inner
			}
			found = true
			for _, choice := range strings.Split(p[open+1:end], ",") {
				out = append(out, p[:open]+choice+p[end+1:])
			}
			if len(out) > maxBraces {
				return nil, fmt.Errorf("glob stands for more than %d patterns; use fewer braces", maxBraces)
			}
		}
		if ps = out; !found {
			return ps, nil
		}
	}
}

// match tells whether a file is picked; dir is its folder below the searched
// one, "" or ending in a slash.
func (g glob) match(dir, name string) bool {
	var names []string
	for _, p := range g {
		if p.names {
			if p.segs[0].match(name) {
				return true
			}
			continue
		}
		if names == nil {
			names = strings.Split(dir+name, "/")
		}
		if matchPath(p.segs, names) {
			return true
		}
	}
	return len(g) == 0
}
