//go:build race

package store

// The race detector slows the translated SQLite down about fortyfold.
const manyMessages, timed = 1_000, false
