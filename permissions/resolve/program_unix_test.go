//go:build unix

package resolve

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSystemProgram(t *testing.T) {
	if got := systemProgram("cat"); got != "/usr/bin/cat" && got != "/bin/cat" && got != "/run/current-system/sw/bin/cat" {
		t.Errorf("systemProgram(cat) = %q", got)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "evil"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, name := range []string{"evil", "", ".", "..", "./cat", "/bin/cat", "../bin/cat", "Cat", "cat\x00x", filepath.Join(dir, "evil")} {
		if got := systemProgram(name); got != "" {
			t.Errorf("systemProgram(%q) = %q, want none", name, got)
		}
	}
	systemFoldersWere := systemFolders
	defer func() { systemFolders = systemFoldersWere }()
	systemFolders = []string{dir}
	os.Chmod(dir, 0o777)
	if got := systemProgram("evil"); got != "" {
		t.Errorf("a program in a folder that everybody may write to: %q", got)
	}
	os.Chmod(dir, 0o755)
	os.Chmod(filepath.Join(dir, "evil"), 0o775)
	if got := systemProgram("evil"); got != "" {
		t.Errorf("a program that its group may write to: %q", got)
	}
}
