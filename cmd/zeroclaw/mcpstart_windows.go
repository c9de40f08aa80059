package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// startDetached starts a program without our console, in a group of its own,
// and outside the job that a client may have put us in, where that lets it go.
func startDetached(program func() *exec.Cmd) (*exec.Cmd, error) {
	const flags = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
	var err error
	for _, more := range []uint32{windows.CREATE_BREAKAWAY_FROM_JOB, 0} {
		cmd := program()
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags | more, HideWindow: true}
		if err = cmd.Start(); err == nil {
			return cmd, nil
		}
	}
	return nil, err
}
