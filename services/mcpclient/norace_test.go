//go:build !race

package mcpclient

const slowdown = 1
