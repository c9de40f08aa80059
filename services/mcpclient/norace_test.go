//go:build !race

package mcpclient

// slowdown stretches the times that tests allow, for a machine that is busy
// with other things.
const slowdown = 5

const raced = false
