package catalog

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// running lists the processes that have word in an argument. It is empty where
// there is no /proc.
func running(t *testing.T, word string) []string {
	t.Helper()
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, d := range dirs {
		b, _ := os.ReadFile(d)
		if filepath.Base(filepath.Dir(d)) != "self" && bytes.Contains(b, []byte(word)) {
			out = append(out, d+" "+string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
		}
	}
	return out
}
