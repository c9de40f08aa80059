package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// discardTyped forgets what was typed into a console and not read yet.
func discardTyped(in *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(in.Fd()))
}
