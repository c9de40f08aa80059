//go:build !linux

package process

// bootID is not needed where start times are points in time.
func bootID() string { return "" }

// thisRun: only Linux lets a process read the limits of another, so there are no marks.
func thisRun() uint64 { return 0 }
