//go:build unix

package localserver

import "syscall"

// What the system answers for a port that is in use or reserved.
const (
	errPortInUse  = syscall.EADDRINUSE
	errPortDenied = syscall.EACCES
)
