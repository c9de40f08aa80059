//go:build unix

package resolve

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// systemFolders are where a simple command's program is looked for, whatever
// PATH says.
var systemFolders = []string{"/usr/bin", "/bin", "/run/current-system/sw/bin"}

// systemProgram finds a bare name in the system's own folders and returns its
// absolute path, or "". The folder, and the file that a link leads to, must
// belong to root and be writable by nobody else.
func systemProgram(name string) string {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return ""
	}
	for _, dir := range systemFolders {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || !rootOnly(info) {
			continue
		}
		p := filepath.Join(dir, name)
		info, err = os.Stat(p)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && rootOnly(info) {
			return p
		}
	}
	return ""
}

// nobody owns what belongs to root outside a user name space.
const nobody = 65534

func rootOnly(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&0o022 != 0 {
		return false
	}
	return st.Uid == 0 || st.Uid == nobody && os.Geteuid() != nobody
}
