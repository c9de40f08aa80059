//go:build !linux

package process

// bootID is not needed where start times are points in time.
func bootID() string { return "" }

// No marks: only Linux lets a process read the limits of another.
func thisRun() uint64 { return 0 }

func runOf(uint64) uint64 { return 0 }
