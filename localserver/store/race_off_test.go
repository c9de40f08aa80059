//go:build !race

package store

const manyMessages, timed = 10_000, true
