package shellscan

import (
	"sort"
	"strings"
)

// shape says what the operands of a program are.
type shape uint8

const (
	anything shape = iota // plain text, flags included; nothing is opened
	names                 // plain text; flags are read
	files                 // every operand is a path, used as row.op says
	search                // a pattern, then paths to read (grep)
	pair                  // paths to read that must not be folders (diff)
	copying               // sources, then a destination (cp)
	moving                // sources, then a destination (mv)
	finding               // starting points, then an expression (find)
)

// row is what the rules know about one program.
//
// A flag is in a row only if it can neither write, run nor follow links in any
// of GNU coreutils, findutils, diffutils and grep, BusyBox and the BSD tools of
// macOS, and takes a value in all of them or in none. flags is a list of
//
//	-abc          short flags without a value, which may be joined
//	-n=num        a short flag with a value, joined or as the next word
//	--all         a long flag without a value
//	--lines=num   a long flag with a value, behind "=" or as the next word
//	--color?=when a long flag whose value, behind "=", may be left out
//
// where a value is num (a count), text (anything), when (always, auto, never)
// or read (a path that is read). "!walk" behind a flag makes the program walk
// whole trees, "!pattern" takes the place of grep's pattern, "!replace" removes
// a destination that cannot be opened.
type row struct {
	shape   shape
	op      string // of files: "read", "list", "write" or "delete"
	walk    bool   // always walks
	least   int    // operands needed
	most    int    // operands allowed, 0 for any number
	implied bool   // no operand means "."
	flags   string
	about   string // what it does, for the documentation
}

var table = map[string]row{
	"cat": {shape: files, op: "read", least: 1, about: "print files",
		flags: "-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-nonprinting --show-tabs --squeeze-blank"},
	"tac": {shape: files, op: "read", least: 1, about: "print files, last line first"},
	"head": {shape: files, op: "read", least: 1, about: "print the start of files",
		flags: "-qv -n=num -c=num --lines=num --bytes=num --quiet --silent --verbose"},
	"tail": {shape: files, op: "read", least: 1, about: "print the end of files",
		flags: "-qv -n=num -c=num --lines=num --bytes=num --quiet --silent --verbose"},
	"wc": {shape: files, op: "read", least: 1, about: "count lines, words and bytes",
		flags: "-clLmw --bytes --chars --lines --max-line-length --words"},
	"nl": {shape: files, op: "read", least: 1, about: "number the lines of files",
		flags: "-p -b=text -n=text -s=text -v=num -w=num -i=num"},
	"cut": {shape: files, op: "read", least: 1, about: "print columns of files",
		flags: "-s -b=text -c=text -d=text -f=text --bytes=text --characters=text --complement --delimiter=text --fields=text --only-delimited --output-delimiter=text"},
	"sort": {shape: files, op: "read", least: 1, about: "print files sorted",
		flags: "-bcCdfghiMnrsuV -k=text -t=text --check --dictionary-order --field-separator=text --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --key=text --month-sort --numeric-sort --reverse --stable --unique --version-sort"},
	"uniq": {shape: files, op: "read", least: 1, most: 1, about: "print a file without repeated lines",
		flags: "-cdiu -f=num -s=num -w=num --check-chars=num --count --ignore-case --repeated --skip-chars=num --skip-fields=num --unique"},
	"cmp": {shape: files, op: "read", least: 2, most: 2, about: "compare two files byte by byte",
		flags: "-ls --quiet --silent --verbose"},
	"diff": {shape: pair, least: 2, most: 2, about: "compare two files line by line; folders ask",
		flags: "-abBcipqsuwy -C=num -U=num -W=num --brief --color?=when --context?=num --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --report-identical-files --show-c-function --side-by-side --suppress-common-lines --text --unified?=num --width=num"},
	"grep": {shape: search, least: 1, about: "search files for a pattern",
		flags: "-abcEFGhHiIlLnoPqsvwx -r!walk -A=num -B=num -C=num -m=num -e=text!pattern -f=read!pattern --after-context=num --basic-regexp --before-context=num --byte-offset --color?=when --colour?=when --context?=num --count --exclude=text --exclude-dir=text --extended-regexp --file=read!pattern --files-with-matches --files-without-match --fixed-strings --ignore-case --include=text --invert-match --line-number --line-regexp --max-count=num --no-filename --no-messages --only-matching --perl-regexp --quiet --recursive!walk --regexp=text!pattern --silent --text --with-filename --word-regexp"},
	"sha256sum": {shape: files, op: "read", least: 1, about: "print SHA-256 sums", flags: "-b --binary"},
	"md5sum":    {shape: files, op: "read", least: 1, about: "print MD5 sums", flags: "-b --binary"},
	"file": {shape: files, op: "read", least: 1, about: "guess the types of files",
		flags: "-b --brief --mime --mime-encoding --mime-type"},
	"stat": {shape: files, op: "read", least: 1, about: "print size, times and mode of files",
		flags: "-c=text --format=text --printf=text"},
	"readlink": {shape: files, op: "read", least: 1, about: "print where links lead",
		flags: "-efmn --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"},
	"realpath": {shape: files, op: "read", least: 1, about: "print absolute paths",
		flags: "-emqs --canonicalize-existing --canonicalize-missing --no-symlinks --quiet --strip"},
	"ls": {shape: files, op: "list", implied: true, about: "list folders",
		flags: "-1aABbCcdFfGghiklmnopqQrSstuUvxX -R!walk --all --almost-all --author --classify --color?=when --directory --escape --file-type --full-time --group-directories-first --hide=text --human-readable --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --recursive!walk --reverse --si --size --sort=text --time=text --time-style=text"},
	"du": {shape: files, op: "list", walk: true, implied: true, about: "add up the sizes of folders",
		flags: "-achksx -d=num --all --apparent-size --bytes --exclude=text --human-readable --max-depth=num --one-file-system --si --summarize --total"},
	"find": {shape: finding, op: "list", walk: true, implied: true, about: "list files below folders that meet tests"},

	"basename": {shape: names, least: 1, about: "print the last part of a path", flags: "-a -s=text --multiple --suffix=text"},
	"dirname":  {shape: names, least: 1, about: "print a path without its last part"},
	"pwd":      {shape: anything, about: "print the current folder"},
	"true":     {shape: anything, about: "do nothing"},
	"echo":     {shape: anything, about: "print its words"},

	"mkdir": {shape: files, op: "write", least: 1, about: "make folders", flags: "-pv --parents --verbose"},
	"touch": {shape: files, op: "write", least: 1, about: "make empty files, set times",
		flags: "-acm -d=text -t=text --date=text --no-create"},
	"rm":    {shape: files, op: "delete", least: 1, about: "delete files", flags: "-dfivI --dir --force --verbose"},
	"rmdir": {shape: files, op: "delete", least: 1, about: "delete empty folders", flags: "-v --verbose"},
	"cp": {shape: copying, least: 2, about: "copy files",
		flags: "-inpv -f!replace --force!replace --interactive --no-clobber --verbose"},
	"mv": {shape: moving, least: 2, about: "move files and folders",
		flags: "-finv --force --interactive --no-clobber --verbose"},
}

// Program is one row of the table in words.
type Program struct {
	Name   string
	About  string   // what it does, in a few English words
	Writes bool     // it changes, makes or deletes files
	Flags  []string // such as "-n NUM", "--color[=WHEN]"; of find, the parts of an expression
}

// Table describes every program that can be simple, for the documentation, in
// alphabetical order.
func Table() []Program {
	var out []Program
	for _, name := range Programs() {
		r := table[name]
		p := Program{Name: name, About: r.about, Flags: spelled(r.flags)}
		p.Writes = r.op == "write" || r.op == "delete" || r.shape == copying || r.shape == moving
		if r.shape == finding {
			for test, n := range findTests {
				p.Flags = append(p.Flags, test+strings.Repeat(" ARG", n))
			}
			sort.Strings(p.Flags)
		}
		out = append(out, p)
	}
	return out
}

// spelled turns the flags of a row into what a manual would write.
func spelled(list string) []string {
	var out []string
	for _, item := range strings.Fields(list) {
		name, _, _ := strings.Cut(item, "!")
		name, val, _ := strings.Cut(name, "=")
		val = strings.ToUpper(val)
		name, optional := strings.CutSuffix(name, "?")
		long := strings.HasPrefix(name, "--")
		switch {
		case optional:
			out = append(out, name+"[="+val+"]")
		case val != "" && long:
			out = append(out, name+"="+val)
		case val != "":
			out = append(out, name+" "+val)
		case long:
			out = append(out, name)
		default:
			for _, c := range name[1:] {
				out = append(out, "-"+string(c))
			}
		}
	}
	return out
}

// Programs returns the names of the table in alphabetical order.
func Programs() []string {
	out := make([]string, 0, len(table))
	for name := range table {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
