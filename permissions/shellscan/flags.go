package shellscan

import (
	"strings"
)

// value says what may follow a flag.
type value string

const (
	none value = ""
	num  value = "num"
	when value = "when"
	read value = "read"
)

// flag is one flag of a row, under its name with the dashes.
type flag struct {
	value    value
	optional bool   // the value may be left out, and stands behind "=" only
	effect   string // "walk", "pattern", "replace", "parents" or ""
}

// flagsOf reads the list of a row.
func flagsOf(list string) map[string]flag {
	out := map[string]flag{}
	for _, item := range strings.Fields(list) {
		name, effect, _ := strings.Cut(item, "!")
		name, val, _ := strings.Cut(name, "=")
		name, optional := strings.CutSuffix(name, "?")
		f := flag{value: value(val), optional: optional, effect: effect}
		if strings.HasPrefix(name, "--") {
			out[name] = f
			continue
		}
		for _, c := range name[1:] {
			out["-"+string(c)] = f
		}
	}
	return out
}

// count is a number as head, tail, grep and the others take it: a sign and a
// unit are allowed, and no more digits than fit in 63 bits.
var count = pattern(`^[+-]?[0-9]{1,15}(?:[bkKMG]|[kKMG]i?B)?$`)

func (v value) accepts(s string) bool {
	switch v {
	case num:
		return count().MatchString(s)
	case when:
		return s == "always" || s == "auto" || s == "never"
	case read:
		return s != "" && s != "-"
	}
	return true
}

// line is a command line taken apart.
type line struct {
	operands []word
	reads    []word // values of flags that are paths to read
	late     []word // flags and values behind the first operand
	walk     bool
	pattern  bool // a flag gave grep's pattern
	replace  bool
	parents  bool
}

// parse takes the arguments of a program apart the way GNU getopt_long does,
// except that a long flag must be written out. late holds the words that a
// system which stops at the first operand would take for operands.
func parse(program string, args []word, known map[string]flag) (line, *Finding) {
	var l line
	bad := func(k Kind, w word) (line, *Finding) {
		return line{}, &Finding{Kind: k, Start: w.start, End: w.end, Of: program}
	}
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !strings.HasPrefix(w.text, "-") || w.text == "-" {
			l.operands = append(l.operands, w)
			continue
		}
		if w.text == "--" {
			if len(l.operands) > 0 {
				l.late = append(l.late, w)
			}
			l.operands = append(l.operands, args[i+1:]...)
			break
		}
		uses, used, k := oneFlag(args[i:], known)
		if k != "" {
			return bad(k, w)
		}
		for _, u := range uses {
			l.walk = l.walk || u.effect == "walk"
			l.pattern = l.pattern || u.effect == "pattern"
			l.replace = l.replace || u.effect == "replace"
			l.parents = l.parents || u.effect == "parents"
			if u.value == read {
				l.reads = append(l.reads, word{text: u.text, start: w.start, end: args[i+used-1].end})
			}
		}
		if len(l.operands) > 0 {
			l.late = append(l.late, args[i:i+used]...)
		}
		i += used - 1
	}
	return l, nil
}

type use struct {
	flag
	text string
}

// oneFlag reads the word at args[0], which starts with a dash, and tells how
// many words it used.
func oneFlag(args []word, known map[string]flag) (uses []use, used int, bad Kind) {
	text := args[0].text
	if strings.HasPrefix(text, "--") {
		name, val, given := strings.Cut(text, "=")
		f, ok := known[name]
		switch {
		case !ok, given && f.value == none:
			return nil, 0, KindFlag
		case !given && (f.value == none || f.optional):
			return []use{{flag: f}}, 1, ""
		}
		used = 1
		if !given {
			if len(args) < 2 {
				return nil, 0, KindNoValue
			}
			val, used = args[1].text, 2
		}
		if !f.value.accepts(val) {
			return nil, 0, KindValue
		}
		return []use{{flag: f, text: val}}, used, ""
	}
	for at, c := range text {
		if at == 0 {
			continue
		}
		f, ok := known["-"+string(c)]
		if !ok {
			return nil, 0, KindFlag
		}
		if f.value == none {
			uses = append(uses, use{flag: f})
			continue
		}
		val, used := text[at+len(string(c)):], 1
		if val == "" {
			if len(args) < 2 {
				return nil, 0, KindNoValue
			}
			val, used = args[1].text, 2
		}
		if !f.value.accepts(val) {
			return nil, 0, KindValue
		}
		return append(uses, use{flag: f, text: val}), used, ""
	}
	return uses, 1, ""
}
