package main

import "runtime/debug"

// memoryLimit is what the companion tries to stay within, in bytes. Beyond it
// memory is given back sooner, at the cost of time: several large answers at
// once leave a lot of it behind.
const memoryLimit = 100 << 20

// boundMemory sets the limit unless the user has set one.
func boundMemory(getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
