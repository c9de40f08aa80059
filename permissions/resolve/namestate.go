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
	var absolute, spelled, relative []string
	seen := map[string]bool{}
	goes := false
	cwd := r.root
	if c.Cwd.Err == "" {
		cwd = c.Cwd.Real
	}
	variables := r.variables(cwd)
	for _, w := range append(strings.Fields(c.Text), c.Words...) {
		for _, piece := range pieces(r.expand(unquote.Replace(w), variables)) {
			if seen[piece] {
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
			case r.maySpell(piece):
				spelled = append(spelled, piece)
			default:
				relative = append(relative, piece)
			}
		}
	}
	bases := []string{cwd}
	if c.Class != permissions.Simple {
		if goes {
			bases = append(bases, r.home, parent(r.own.given))
		}
		bases = append(bases, absolute...)
		for _, p := range append(relative, spelled...) {
			if strings.ContainsAny(p, "/.") {
				bases = append(bases, cleanAbs(join(bases[0], p)))
			}
		}
	}
	if len(bases)*len(spelled) > maxPairs {
		return true // its name is in the text, and nobody can read the rest
	}
	left := maxNamed
	for _, p := range absolute {
		if r.names(p, &left) {
			return true
		}
	}
	for n, b := range bases {
		if b == "" {
			continue
		}
		try := spelled
		if n < maxBases {
			try = append(slices.Clone(spelled), relative...)
		}
		for _, p := range try {
			if r.names(cleanAbs(join(b, p)), &left) {
				return true
			}
		}
	}
	return false
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

var ownPids = strings.NewReplacer("${PPID}", "self", "$PPID", "self", "$$", "self")

// variables are what a shell knows without being told, as far as it may lead to
// own state. The folder before the last cd is one that the text starts in.
func (r *Resolver) variables(cwd string) map[string]string {
	user := path.Base(r.home)
	if user == "/" {
		user = "" // a home at the top is nobody's
	}
	return map[string]string{"HOME": r.home, "USER": user, "LOGNAME": user, "PWD": cwd, "OLDPWD": cwd}
}

// expand writes what a shell would where a word holds "~", "~user", "~+", "~-"
// or one of the variables.
func (r *Resolver) expand(w string, variables map[string]string) string {
	w = ownPids.Replace(w)
	if r.home == "" || !strings.ContainsAny(w, "~$") {
		return w
	}
	var out strings.Builder
	for i := 0; i < len(w); {
		value, skip := "", 0
		switch rest := w[i:]; {
		case rest[0] == '$':
			var name string
			name, skip = variable(rest)
			value = variables[name]
		case rest[0] == '~' && (i == 0 || !isNameByte(w[i-1]) && w[i-1] != '/' && w[i-1] != '.'):
			value, skip = r.home, 1
			switch user := variables["USER"]; {
			case strings.HasPrefix(rest[1:], user):
				skip += len(user)
			case strings.HasPrefix(rest[1:], "+"), strings.HasPrefix(rest[1:], "-"):
				value, skip = variables["PWD"], 2
			}
			if len(rest) > skip && rest[skip] != '/' && !betweenPaths(rune(rest[skip])) {
				value = ""
			}
		}
		if value == "" {
			out.WriteByte(w[i])
			i++
			continue
		}
		out.WriteString(value)
		i += skip
	}
	return out.String()
}

// variable reads the name of a variable, $name or ${name}, and its length.
func variable(w string) (name string, length int) {
	from := 1
	if strings.HasPrefix(w, "${") {
		from = 2
	}
	to := from
	for to < len(w) && isNameByte(w[to]) {
		to++
	}
	if from == 2 {
		if !strings.HasPrefix(w[to:], "}") {
			return "", 0
		}
		return w[from:to], to + 1
	}
	return w[from:to], to
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
