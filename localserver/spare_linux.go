package localserver

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropMapped takes the pages of the program's own file out of this process: most
// of what is there only the start needed, and what is used again comes from the
// cache of the system. What the process has changed stays.
func dropMapped() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchanged(text, self) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.size, unix.MADV_DONTNEED) // without it they stay
	}
}

// mapping is a part of the address space.
type mapping struct{ from, size uintptr }

// unchanged are the mappings of a file that can only be read and of which the
// process has no pages of its own, as smaps shows them.
func unchanged(smaps []byte, file string) (found []mapping) {
	var last *mapping
	lines := bufio.NewScanner(bytes.NewReader(smaps))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			last = nil
			from, to, _ := strings.Cut(fields[0], "-")
			first, err := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			path := strings.Join(fields[5:], " ")
			if err == nil && err2 == nil && first < end && path == file && (fields[1] == "r-xp" || fields[1] == "r--p") {
				last = &mapping{uintptr(first), uintptr(end - first)}
			}
		case last != nil && len(fields) == 3 && fields[0] == "Anonymous:":
			if fields[1] == "0" {
				found = append(found, *last)
			}
			last = nil
		}
	}
	return found
}
