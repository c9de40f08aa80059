// Package resolve owns the look-ups in the file system that a verdict needs:
// where a path really leads, what stands there, which volume it is on, whether
// it is the companion's own state, and what the fixed prefix of a rule resolves
// to. It hands these facts to the pure functions of package permissions and,
// once a call is allowed, opens exactly the place that was judged.
//
// A path is cleaned as text first, "~/" in front becomes the home folder and
// nothing else is expanded; then every link is followed, of the deepest parent
// that exists where the path does not. What follows from the facts is decided
// in package permissions and nowhere else.
//
// # Names that are not valid UTF-8
//
// Facts hold names as the file system has them. Whoever shows a name or puts it
// into JSON writes it with permissions.EncodePath: each byte that is no UTF-8
// becomes U+FFFD and two lower-case hex digits (the name FF FE is "\ufffdff\ufffdfe"),
// and any other name stays as it is. Path reads that form back, so a name from
// a listing can be given to a later call, alone or inside a longer path.
// Operands of commands are taken literally: a program gets the very bytes.
package resolve
