package files

import (
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// named is an entry as it comes from the folder.
type named struct {
	name string
	kind fs.FileMode // type bits only
}

// readEntries reads the names in an open folder, up to limit, and what it got
// before an error. It reads the records of getdents64(2) itself: package os
// looks at every single entry of a folder that was opened through os.Root, and
// one that cannot be looked at would hide all others.
func readEntries(ctx context.Context, dir *os.File, limit int) ([]named, error) {
	fd := int(dir.Fd())
	buf := make([]byte, 64<<10)
	var all []named
	for len(all) < limit {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return all, os.NewSyscallError("getdents", err)
		}
		if n == 0 {
			break
		}
		all = appendRecords(all, string(buf[:n]), fd)
	}
	return all, nil
}

// Offsets in struct linux_dirent64, the same on every architecture.
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// appendRecords takes records apart; the names share the memory of the string.
func appendRecords(all []named, records string, fd int) []named {
	for len(records) > direntName {
		length := int(binary.NativeEndian.Uint16([]byte(records[direntLength : direntLength+2])))
		if length <= direntName || length > len(records) {
			break
		}
		record := records[:length]
		records = records[length:]
		name, _, _ := strings.Cut(record[direntName:], "\x00")
		if name == "." || name == ".." {
			continue
		}
		e := named{name: name}
		switch record[direntType] {
		case unix.DT_REG:
		case unix.DT_DIR:
			e.kind = fs.ModeDir
		case unix.DT_LNK:
			e.kind = fs.ModeSymlink
		case unix.DT_UNKNOWN:
			// Some volumes do not tell.
			e.kind = fs.ModeIrregular
			if f, err := lookAt(folder{fd: uintptr(fd)}, e); err == nil {
				e.kind = f.mode
			}
		default:
			e.kind = fs.ModeIrregular
		}
		all = append(all, e)
	}
	return all
}
