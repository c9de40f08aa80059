//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// startDetached starts a program in a session of its own, which no signal to
// this one's group or terminal reaches.
func startDetached(program func() *exec.Cmd) (*exec.Cmd, error) {
	cmd := program()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}
