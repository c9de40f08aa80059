package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// What the system answers when there is no room on a disk, when a disk takes
// no changes, and when a path leads through a file.
var diskFull = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}

const (
	readOnlyDisk = windows.ERROR_WRITE_PROTECT
	notFolder    = syscall.ENOTDIR // what MkdirAll gives
)
