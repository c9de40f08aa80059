package process

import (
	"bytes"
	"os"
	"strconv"
)

// oomKills counts the processes that the kernel has killed for lack of memory
// since it started, in this control group or any other.
func oomKills() uint64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			n, _ := strconv.ParseUint(string(bytes.TrimSpace(rest)), 10, 64)
			return n
		}
	}
	return 0
}
