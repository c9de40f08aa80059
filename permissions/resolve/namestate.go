package resolve

import (
	"path"
	"strings"

	"zeroclaw/permissions"
)

// maxNamed bounds how many places in a text are looked up.
const maxNamed = 1024

// maxBraces bounds how many forms of a word with braces are looked at.
const maxBraces = 64

// namesState reports whether the text of a command names own state. It sees
// paths as they are written, with "~", $HOME and ${HOME} expanded and quotes
// removed, from the folder that the command runs in and from folders that the
// text itself names. What a shell would compute it cannot see.
func (r *Resolver) namesState(c permissions.Command) bool {
	if r.own.given == "" && !strings.Contains(c.Text, "/proc/") {
		return false
	}
	var absolute, relative []string
	seen := map[string]bool{}
	goes := false
	for _, w := range append(strings.Fields(c.Text), c.Words...) {
		w = strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(w)
		for _, piece := range pieces(r.expandHome(w)) {
			if seen[piece] || len(seen) >= maxNamed {
				continue
			}
			seen[piece] = true
			if r.holdsPlace(piece) {
				return true
			}
			switch {
			case strings.HasPrefix(piece, "/"):
				absolute = append(absolute, cleanAbs(piece))
			case piece == "cd" || piece == "pushd" || piece == "chdir" || strings.HasPrefix(piece, "-C"):
				goes = true
			default:
				relative = append(relative, piece)
			}
		}
	}
	bases := []string{r.root}
	if c.Cwd.Err == "" {
		bases[0] = c.Cwd.Real
	}
	if c.Class != permissions.Simple {
		bases = append(bases, absolute...)
		for _, p := range relative {
			if strings.ContainsAny(p, "/.") {
				bases = append(bases, cleanAbs(join(bases[0], p)))
			}
		}
		if goes {
			bases = append(bases, r.home, parent(r.own.given))
		}
	}
	left := maxNamed
	for _, p := range absolute {
		if r.names(p, &left) {
			return true
		}
	}
	for _, b := range bases {
		for _, p := range relative {
			if b != "" && r.names(cleanAbs(join(b, p)), &left) {
				return true
			}
		}
	}
	return false
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
			if p := cleanAbs(piece[from-len(s):]); within(s, p) && r.own.holds(p) {
				return true
			}
		}
	}
	return false
}

func (r *Resolver) expandHome(w string) string {
	w = strings.NewReplacer("${PPID}", "self", "$PPID", "self", "$$", "self").Replace(w)
	if r.home == "" {
		return w
	}
	w = strings.ReplaceAll(w, "${HOME}", r.home)
	for from := 0; ; {
		i := strings.Index(w[from:], "$HOME")
		if i < 0 {
			break
		}
		i += from
		end := i + len("$HOME")
		if end == len(w) || !isNameByte(w[end]) {
			w = w[:i] + r.home + w[end:]
			end = i + len(r.home)
		}
		from = end
	}
	user := "~" + path.Base(r.home)
	for i := 0; i < len(w); i++ {
		if w[i] != '~' || i > 0 && (isNameByte(w[i-1]) || w[i-1] == '/' || w[i-1] == '.') {
			continue
		}
		tilde := "~"
		if strings.HasPrefix(w[i:], user) {
			tilde = user
		}
		if end := i + len(tilde); end == len(w) || w[end] == '/' || betweenPaths(rune(w[end])) {
			w = w[:i] + r.home + w[end:]
			i += len(r.home) - 1
		}
	}
	return w
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
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
