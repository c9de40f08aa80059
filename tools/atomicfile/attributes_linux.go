package atomicfile

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keepAttributes copies the user's own extended attributes and the access
// list, best effort. Attributes of the "security" class stay behind: content
// that changed must not inherit capabilities.
func keepAttributes(f *os.File, dir *os.Root, name string) {
	old, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer old.Close()
	list := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(old.Fd()), list)
	if err != nil {
		return
	}
	value := make([]byte, 64<<10)
	for attr := range strings.SplitSeq(string(list[:n]), "\x00") {
		if !strings.HasPrefix(attr, "user.") && attr != "system.posix_acl_access" {
			continue
		}
		if n, err := unix.Fgetxattr(int(old.Fd()), attr, value); err == nil {
			_ = unix.Fsetxattr(int(f.Fd()), attr, value[:n], 0)
		}
	}
}
