package permissions

// Path holds the facts that a verdict needs about one path of a call. Package
// permissions/resolve fills it; tests write it as a literal.
type Path struct {
	Given string // as the caller wrote it
	Op    Op
	Clean string // absolute, lexically cleaned, links not followed; slash-separated
	Real  string // absolute with every link followed: the path that is judged, shown and opened; slash-separated

	Kind  Kind   // what stands at Real
	Links uint64 // number of hard links of a regular file, else 0
	Dev   uint64 // identity of what stands at Real; both 0 when nothing does
	Ino   uint64

	Fold bool // the volume folds case
	NFC  bool // the volume normalises names

	Walk      bool   // everything below Real is read as well (ls -R, find, du)
	Area      Area   // part of the session's own workspace, if any
	OwnState  bool   // the path, as written or as resolved, is or holds the companion's own state
	Protected string // the protected name that the path meets for Op, "" if none; for Walk also names below
	TooMany   bool   // a walk would meet more entries than are looked at

	Err string // why the path is impossible (empty, NUL, link loop, device…); "" if it is possible
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
