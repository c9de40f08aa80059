package shellscan

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
// a destination that cannot be opened, "!parents" makes missing folders above
// each operand.
type row struct {
	shape   shape
	op      string // of files: "read", "list", "write" or "delete"
	walk    bool   // always walks
	least   int    // operands needed
	most    int    // operands allowed, 0 for any number
	implied bool   // no operand means "."
	flags   string
}

// table is every program that can be simple, by its bare name.
var table = map[string]row{
	"cat": {shape: files, op: "read", least: 1,
		flags: "-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-nonprinting --show-tabs --squeeze-blank"},
	"tac": {shape: files, op: "read", least: 1},
	"head": {shape: files, op: "read", least: 1,
		flags: "-qv -n=num -c=num --lines=num --bytes=num --quiet --silent --verbose"},
	"tail": {shape: files, op: "read", least: 1,
		flags: "-qv -n=num -c=num --lines=num --bytes=num --quiet --silent --verbose"},
	"wc": {shape: files, op: "read", least: 1,
		flags: "-clLmw --bytes --chars --lines --max-line-length --words"},
	"nl": {shape: files, op: "read", least: 1,
		flags: "-p -b=text -n=text -s=text -v=num -w=num -i=num"},
	"cut": {shape: files, op: "read", least: 1,
		flags: "-s -b=text -c=text -d=text -f=text --bytes=text --characters=text --complement --delimiter=text --fields=text --only-delimited --output-delimiter=text"},
	"sort": {shape: files, op: "read", least: 1,
		flags: "-bcCdfghiMnrsuV -k=text -t=text --check --dictionary-order --field-separator=text --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --key=text --month-sort --numeric-sort --reverse --stable --unique --version-sort"},
	"uniq": {shape: files, op: "read", least: 1, most: 1,
		flags: "-cdiu -f=num -s=num -w=num --check-chars=num --count --ignore-case --repeated --skip-chars=num --skip-fields=num --unique"},
	"cmp": {shape: files, op: "read", least: 2, most: 2,
		flags: "-ls --quiet --silent --verbose"},
	"diff": {shape: pair, least: 2, most: 2,
		flags: "-abBcipqsuwy -C=num -U=num -W=num --brief --color?=when --context?=num --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --report-identical-files --show-c-function --side-by-side --suppress-common-lines --text --unified?=num --width=num"},
	"grep": {shape: search, least: 1,
		flags: "-abcEFGhHiIlLnoPqsvwx -r!walk -A=num -B=num -C=num -m=num -e=text!pattern -f=read!pattern --after-context=num --basic-regexp --before-context=num --byte-offset --color?=when --colour?=when --context?=num --count --exclude=text --exclude-dir=text --extended-regexp --file=read!pattern --files-with-matches --files-without-match --fixed-strings --ignore-case --include=text --invert-match --line-number --line-regexp --max-count=num --no-filename --no-messages --only-matching --perl-regexp --quiet --recursive!walk --regexp=text!pattern --silent --text --with-filename --word-regexp"},
	"sha256sum": {shape: files, op: "read", least: 1, flags: "-b --binary"},
	"md5sum":    {shape: files, op: "read", least: 1, flags: "-b --binary"},
	"file": {shape: files, op: "read", least: 1,
		flags: "-b --brief --mime --mime-encoding --mime-type"},
	"stat": {shape: files, op: "read", least: 1,
		flags: "-c=text --format=text --printf=text"},
	"readlink": {shape: files, op: "read", least: 1,
		flags: "-efmn --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"},
	"realpath": {shape: files, op: "read", least: 1,
		flags: "-emqs --canonicalize-existing --canonicalize-missing --no-symlinks --quiet --strip"},
	"ls": {shape: files, op: "list", implied: true,
		flags: "-1aABbCcdFfGghiklmnopqQrSstuUvxX -R!walk --all --almost-all --author --classify --color?=when --directory --escape --file-type --full-time --group-directories-first --hide=text --human-readable --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --recursive!walk --reverse --si --size --sort=text --time=text --time-style=text"},
	"du": {shape: files, op: "list", walk: true, implied: true,
		flags: "-achksx -d=num --all --apparent-size --bytes --exclude=text --human-readable --max-depth=num --one-file-system --si --summarize --total"},
	"find": {shape: finding, op: "list", walk: true, implied: true},

	"basename": {shape: names, least: 1, flags: "-a -s=text --multiple --suffix=text"},
	"dirname":  {shape: names, least: 1},
	"pwd":      {shape: anything},
	"true":     {shape: anything},
	"echo":     {shape: anything},

	"mkdir": {shape: files, op: "write", least: 1, flags: "-v -p!parents --parents!parents --verbose"},
	"touch": {shape: files, op: "write", least: 1,
		flags: "-acm -d=text -t=text --date=text --no-create"},
	"rm":    {shape: files, op: "delete", least: 1, flags: "-dfivI --dir --force --verbose"},
	"rmdir": {shape: files, op: "delete", least: 1, flags: "-v --verbose"},
	"cp": {shape: copying, least: 2,
		flags: "-inpv -f!replace --force!replace --interactive --no-clobber --verbose"},
	// One source only: where a second one leads can depend on where the first
	// has brought a link.
	"mv": {shape: moving, least: 2, most: 2,
		flags: "-finv --force --interactive --no-clobber --verbose"},
}
