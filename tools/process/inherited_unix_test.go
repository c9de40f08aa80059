//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCloseInherited(t *testing.T) {
	// As a program that started this one might have left it.
	open, err := unix.Dup(int(os.Stderr.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(open)
	has := func() bool { return exec.Command("sh", "-c", fmt.Sprintf(": <&%d", open)).Run() == nil }
	if !has() {
		t.Fatalf("a child has no file %d before", open)
	}
	if err := CloseInherited(); err != nil {
		t.Fatal(err)
	}
	if has() {
		t.Errorf("a child still has file %d", open)
	}
	if exec.Command("sh", "-c", "echo x >&2").Run() != nil {
		t.Error("a child has no standard error")
	}
}
