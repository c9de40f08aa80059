// Package shellscan owns the reading of one command line: whether it is a
// simple command that the path rules can decide about, which paths that command
// reads, lists, writes or deletes, and otherwise why it must ask.
//
// A text is simple only when two readers agree on it, the scanner of this
// package and mvdan.cc/sh (as bash), and the program, every flag and every
// operand stand in a fixed table. Nothing here looks at the file system: the
// result carries paths as text, which package permissions/resolve turns into
// facts.
//
// A simple command is later executed as its argv, without a shell. That is why
// aliases, functions and the user's own shell play no part here.
package shellscan
