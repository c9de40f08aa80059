//go:build !linux

package process

// Subreaper does nothing: only Linux can adopt orphaned descendants.
func Subreaper() error { return nil }
