package localserver

import "golang.org/x/sys/windows"

// What the system answers for a port that is in use or reserved: Winsock has
// numbers of its own, which the syscall package does not map.
const (
	errPortInUse  = windows.WSAEADDRINUSE
	errPortDenied = windows.WSAEACCES
)
