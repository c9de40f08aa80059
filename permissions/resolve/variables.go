package resolve

import (
	"path"
	"strings"
)

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
