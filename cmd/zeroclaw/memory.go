package main

import "runtime/debug"

// memoryLimit is what the companion tries to stay within, in bytes. Beyond it
// memory is given back sooner, at the cost of time: several large answers at
// once leave a lot of it behind.
const memoryLimit = 100 << 20

// collectAt is how much may be allocated between two collections, in percent of
// what is in use. That is little: many calls at once would be collected for all
// the time.
const collectAt = 200

// boundMemory sets both unless the user has set them.
func boundMemory(getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}
