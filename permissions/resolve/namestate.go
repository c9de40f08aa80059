package resolve

import (
	"path"
	"slices"
	"strings"

	"zeroclaw/permissions"
)

// Bounds of the work that one text can make. What they leave out is only what
// needs a look into the file system; a text that spells a state folder is
// found however long it is.
const (
	maxNamed = 1024    // places that are looked up
	maxBases = 64      // folders that a harmless relative path is tried from
	maxPairs = 1 << 20 // combinations of folders and paths that may spell one
)

// maxBraces bounds how many forms of a word with braces are looked at.
const maxBraces = 64

// namesState reports whether the text of a command names own state. It sees
// paths as they are written, with "~" and the variables of every shell expanded
// and quotes removed, from the folder that the command runs in and from folders that the
// text itself names. What a shell would compute it cannot see.
func (r *Resolver) namesState(c permissions.Command) bool {
	if r.own.given == "" && !strings.Contains(c.Text, "/proc/") {
		return false
	}
	cwd := r.root
	if c.Cwd.Err == "" {
		cwd = c.Cwd.Real
	}
	text, found := r.sortPieces(append(strings.Fields(c.Text), c.Words...), r.variables(cwd))
	if found {
		return true
	}
	bases := []string{cwd}
	if c.Class != permissions.Simple {
		bases = append(bases, r.bases(cwd, text)...)
	}
	if len(bases)*len(text.spelled) > maxPairs {
		return true // its name is in the text, and nobody can read the rest
	}
	left := maxNamed
	for _, p := range text.absolute {
		if r.names(p, &left) {
			return true
		}
	}
	for n, b := range bases {
		if b == "" {
			continue
		}
		try := text.spelled
		if n < maxBases {
			try = append(slices.Clone(text.spelled), text.relative...)
		}
		for _, p := range try {
			if r.names(cleanAbs(join(b, p)), &left) {
				return true
			}
		}
	}
	return false
}

// sorted is what the text of a command holds, each piece once.
type sorted struct {
	absolute []string
	spelled  []string // relative, and may name a state folder by its text
	relative []string
	goes     bool // it changes to another folder
}

// sortPieces takes words apart. found says that one of the pieces holds the
// path of a state folder in full.
func (r *Resolver) sortPieces(words []string, variables map[string]string) (out sorted, found bool) {
	seen := map[string]bool{}
	for _, w := range words {
		for _, piece := range pieces(r.expand(unquote.Replace(w), variables)) {
			if seen[piece] {
				continue
			}
			seen[piece] = true
			if r.holdsPlace(piece) {
				return out, true
			}
			switch {
			case strings.HasPrefix(piece, "/"):
				out.absolute = append(out.absolute, cleanAbs(piece))
			case piece == "cd" || piece == "pushd" || piece == "chdir" || strings.HasPrefix(piece, "-C"):
				out.goes = true
			case r.maySpell(piece):
				out.spelled = append(out.spelled, piece)
			default:
				out.relative = append(out.relative, piece)
			}
		}
	}
	return out, false
}

// bases are the folders that a text may have gone to before it names a path.
func (r *Resolver) bases(cwd string, text sorted) []string {
	var out []string
	if text.goes {
		out = append(out, r.home, parent(r.own.given))
	}
	out = append(out, text.absolute...)
	for _, list := range [][]string{text.relative, text.spelled} {
		for _, p := range list {
			if strings.ContainsAny(p, "/.") {
				out = append(out, cleanAbs(join(cwd, p)))
			}
		}
	}
	return out
}

var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// maySpell reports whether a relative path can name a state folder by its
// text: it holds the folder's own name, or something that stands for a name.
func (r *Resolver) maySpell(piece string) bool {
	if strings.ContainsAny(piece, "*?[") {
		return true
	}
	low := strings.ToLower(piece)
	for _, s := range r.own.places() {
		if strings.Contains(low, strings.ToLower(path.Base(s))) {
			return true
		}
	}
	return strings.Contains(piece, "..")
}

// betweenPaths are characters that part paths in words such as --file=~/x,
// a:b or >x. None of them is common in the name of a state folder.
func betweenPaths(c rune) bool { return strings.ContainsRune("=:,;|&<>()@`\n\r\t", c) }

// pieces takes a word apart into what may be paths, each form that its braces
// stand for.
func pieces(w string) []string {
	words := []string{w}
	for i := 0; i < len(words) && len(words) < maxBraces; i++ {
		open := strings.LastIndexByte(words[i], '{')
		if open < 0 {
			continue
		}
		end := strings.IndexByte(words[i][open:], '}')
		if end < 0 {
			continue
		}
		before, inside, after := words[i][:open], words[i][open+1:open+end], words[i][open+end+1:]
		for _, form := range strings.Split(inside, ",") {
			words = append(words, before+form+after)
		}
	}
	var out []string
	for _, w := range words {
		out = append(out, strings.FieldsFunc(w, betweenPaths)...)
	}
	return out
}

// holdsPlace reports whether a piece spells a state folder in full behind
// something else, as in -f/home/me/.zeroclaw.
func (r *Resolver) holdsPlace(piece string) bool {
	for _, s := range r.own.places() {
		for from := 0; ; {
			i := strings.Index(piece[from:], s)
			if i < 0 {
				break
			}
			from += i + len(s)
			rest := piece[from-len(s):]
			if p := cleanAbs(rest[:min(len(rest), maxPathBytes)]); within(s, p) && r.own.holds(p) {
				return true
			}
		}
	}
	return false
}

// names reports whether a clean path is own state as written, behind its links,
// or by a wildcard that spells it.
func (r *Resolver) names(p string, left *int) bool {
	if r.own.holds(p) || r.ownProcess(p) {
		return true
	}
	if strings.ContainsAny(p, "*?[") {
		for _, s := range r.own.places() {
			if wildNames(p, s) {
				return true
			}
		}
		return false
	}
	if *left--; *left < 0 || len(p) > maxPathBytes {
		return false
	}
	at, why := follow(p, true)
	return why == "" && at.real != p && r.isOwn(at.real)
}

// wildNames reports whether a path with wildcards spells a state folder or
// something in it. The name of the folder itself must be spelled in part: "*"
// alone names nothing.
func wildNames(pattern, state string) bool {
	want, have := names(pattern), names(state)
	if len(want) < len(have) {
		return false
	}
	for i, h := range have {
		w := want[i]
		if ok, err := path.Match(w, h); !ok || err != nil {
			return false
		}
		if strings.HasPrefix(h, ".") && !strings.HasPrefix(w, ".") {
			return false
		}
		if i == len(have)-1 && len(strings.Trim(w, ".*?[]")) == 0 {
			return false
		}
	}
	return true
}
