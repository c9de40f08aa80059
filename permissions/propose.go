package permissions

import (
	"path"
	"strings"
	"unicode"
)

// propose makes rules of which each alone would cover all given paths, the
// folder first and, where it differs, the one path second. It proposes nothing
// for paths in different folders, for a second place behind a link, and for
// names that a rule cannot spell.
func propose(paths []Path) []string {
	if len(paths) == 0 {
		return nil
	}
	read, write := false, false
	for _, p := range paths {
		if p.Spelled == "" || p.Second != "" || p.Err != "" || p.TooMany || !spellable(p.Spelled) {
			return nil
		}
		if p.Op.Access() == "R" {
			read = true
		} else {
			write = true
		}
	}
	letters := map[[2]bool]string{{true, false}: "R:", {false, true}: "W:", {true, true}: "RW:"}[[2]bool{read, write}]

	var wide, narrow string
	for i, p := range paths {
		w, n := proposal(p)
		if made := p.made(); len(made) > 0 {
			// The folder of the first one that is made covers the others as well.
			w, _ = proposal(made[0])
			n = ""
		}
		if i == 0 {
			wide, narrow = w, n
		}
		if w != wide {
			wide = ""
		}
		if n != narrow {
			narrow = ""
		}
	}
	var out []string
	for _, pattern := range []string{wide, narrow} {
		if pattern != "" {
			out = append(out, letters+pattern)
		}
	}
	return out
}

// proposal returns the pattern of the folder that p lies in, or of p itself
// when that is a folder which is read or walked, and the pattern of p alone.
// Each is "" where it would be too wide or would not cover p.
func proposal(p Path) (wide, narrow string) {
	s := p.Spelled
	if !p.Walk {
		narrow = s
	}
	folder := path.Dir(s)
	if strings.HasPrefix(s, "./") && folder != "." {
		folder = "./" + folder
	}
	if p.Op == OpList || p.Kind == KindDir && p.Op == OpRead {
		folder = s
	} else if p.Walk {
		folder = s
		if p.Op.Access() == "W" {
			return "", "" // X/** does not cover X for writing
		}
	}
	switch {
	case folder == ".":
		// The root as a whole is proposed only to those who list it.
		if s == "." && p.Op.Access() == "R" {
			return "./**", ""
		}
		return "", narrow
	case strings.HasPrefix(folder, "./"):
		return folder + "/**", orElse(narrow, s, folder)
	case folder == "~" || folder == "~/" || folder == "/" || folder == ".." || strings.HasSuffix(folder, "/.."):
		return "", narrow
	case strings.HasPrefix(folder, "~/"):
		return folder + "/**", orElse(narrow, s, folder)
	case strings.Count(folder, "/") < 2:
		return "", narrow // "/etc", "/home": too much for one question
	}
	return folder + "/**", orElse(narrow, s, folder)
}

// orElse drops the narrow pattern when it is the folder's own: listing a folder
// is better served by its wide one.
func orElse(narrow, s, folder string) string {
	if s == folder {
		return ""
	}
	return narrow
}

// spellable reports whether a rule can hold the path as literal text.
func spellable(s string) bool {
	return !strings.Contains(s, "*") && !strings.ContainsFunc(s, unicode.IsControl) && trimOuter(s) == s
}
