package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTyped forgets what was typed into a terminal and not read yet.
func discardTyped(in *os.File) {
	// What cannot be forgotten is read as an answer, which must be a whole word.
	_ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
