package permissions

import (
	"slices"
	"strings"
)

// Path holds the facts that a verdict needs about one path of a call. Package
// permissions/resolve fills it; tests write it as a literal.
//
// Clean, Real, Second and Dir hold names as the file system has them, byte for
// byte. Names that are not valid UTF-8 go through EncodePath before they are
// shown or put into JSON.
type Path struct {
	Given string // as the caller wrote it
	Op    Op
	Clean string // absolute, lexically cleaned, links not followed; slash-separated
	Real  string // absolute with every link followed: the path that is judged, shown and opened; slash-separated

	// Second is another place that the call touches and that is judged as
	// well: what a deleted or moved link points to, or the link that a command
	// may replace instead of following it. "" if there is none.
	Second string
	// Spelled is Real as a rule would write it ("./docs/a.md", "~/x",
	// "/etc/hosts"); "" when no rule can.
	Spelled string

	Kind     Kind   // what stands at Real
	Links    uint64 // number of hard links of a regular file, else 0
	Dev      uint64 // identity of what stands at Real; both 0 when nothing does
	Ino      uint64
	Size     int64 // of a regular file, in bytes
	Modified int64 // of a regular file, in nanoseconds since 1970

	// Dir is the deepest folder above Real that exists, with its identity: its
	// parent unless that is missing. Opening starts there.
	Dir    string
	DirDev uint64
	DirIno uint64

	Fold bool // the volume folds case
	NFC  bool // the volume normalises names

	Parents   bool   // what is missing between Dir and Real is made as well (mkdir -p)
	Walk      bool   // everything below Real is touched as well (ls -R, find, du, moving a folder)
	Area      Area   // part of the session's own workspace, if any
	OwnState  bool   // the path, as written or as resolved, is or holds the companion's own state
	Protected string // the protected name that the path meets for Op, "" if none; for Walk also names below
	TooMany   bool   // a walk would meet more entries than are looked at

	Err string // why the path is impossible (empty, NUL, link loop, device…); "" if it is possible
}

// made lists the folders above p.Real that the call makes as well, the topmost
// first.
func (p Path) made() []Path {
	var out []Path
	for p.Parents {
		p.Real = p.Real[:max(0, strings.LastIndexByte(p.Real, '/'))]
		p.Spelled = p.Spelled[:max(0, strings.LastIndexByte(p.Spelled, '/'))]
		if below, ok := relativeTo(p.Dir, p.Real); !ok || below == "" {
			break
		}
		out = append(out, p)
	}
	slices.Reverse(out)
	return out
}

// Kind is the kind of file system entry.
type Kind uint8

// Kinds of entries. Devices, FIFOs and sockets never get a Kind: they are a
// Path.Err.
const (
	KindNone Kind = iota // nothing is there yet
	KindFile
	KindDir
	KindLink // only for OpDelete: the entry itself is a link
)

// Area is a part of a session's private workspace folder.
type Area uint8

// The parts of a workspace and what a session may do there without a rule:
// uploads are readable, work and outputs readable and writable.
const (
	AreaNone Area = iota
	AreaUploads
	AreaWork
	AreaOutputs
)

// admits reports whether a session may do op in the area without a rule.
func (a Area) admits(op Op) bool {
	switch a {
	case AreaUploads:
		return op.Access() == "R"
	case AreaWork, AreaOutputs:
		return true
	}
	return false
}
