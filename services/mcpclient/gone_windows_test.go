package mcpclient

import (
	"os"
	"testing"
)

func gone(t *testing.T, pid int) {
	t.Helper()
	// On Windows a process that is gone cannot be opened.
	if p, err := os.FindProcess(pid); err == nil {
		p.Release()
		t.Errorf("process %d is still there", pid)
	}
}
