//go:build unix

package config

import (
	"fmt"
	"os"
	"syscall"
)

// looseFile says who else can get at the file, "" for nobody.
func looseFile(info os.FileInfo) string {
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Sprintf("belongs to another user (uid %d), who can change what it allows; make it your own", uid)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Sprintf("can be read by others (mode %04o); the next save makes it 0600", perm)
	}
	return ""
}

// foreign reports whether the file is another user's.
func foreign(info os.FileInfo) bool {
	uid, ok := owner(info)
	return ok && uid != os.Geteuid()
}

// checkFolder refuses a state folder that others can change.
func checkFolder(dir string, info os.FileInfo) error {
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("the state folder %s belongs to another user (uid %d); use one of your own (ZEROCLAW_CONFIG_DIR)", dir, uid)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return fmt.Errorf("the state folder %s can be changed by others (mode %04o); look through it and run chmod 700 on it", dir, perm)
	}
	return nil
}

// tighten makes a state folder that others can only read the user's own.
func tighten(dir string, info os.FileInfo) {
	if info.Mode().Perm()&0o077 != 0 {
		// A file system without modes is no reason not to save.
		_ = os.Chmod(dir, 0o700)
	}
}

func owner(info os.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
