//go:build unix

package shell

import "golang.org/x/sys/unix"

// freeSpace is how many bytes this user may still write to the disk of dir.
func freeSpace(dir string) (uint64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Blocks == 0 {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
