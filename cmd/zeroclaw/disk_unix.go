//go:build unix

package main

import "syscall"

// What the system answers when there is no room on a disk, when a disk takes
// no changes, and when a path leads through a file.
var diskFull = []error{syscall.ENOSPC, syscall.EDQUOT}

const (
	readOnlyDisk = syscall.EROFS
	notFolder    = syscall.ENOTDIR
)
