//go:build unix

package mcpclient

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func gone(t *testing.T, pid int) {
	t.Helper()
	// A zombie that its new parent has not looked at yet is gone.
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
		return
	}
	if err := syscall.Kill(pid, 0); err == nil || !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}
