//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTyped forgets what was typed into a terminal and not read yet.
func discardTyped(in *os.File) {
	const read = 1 // FREAD of sys/fcntl.h: the queue of what was typed
	_ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, read)
}
