//go:build race

package mcpclient

// slowdown stretches the times that tests allow: the race detector makes
// everything slower and each child sleep a second before it ends.
const slowdown = 10

const raced = true
