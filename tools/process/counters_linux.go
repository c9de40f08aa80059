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

// systemTasks is the number of processes and threads of the entire system
// (proc_loadavg(5)), which one short read tells.
func systemTasks() (n int, ok bool) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	f := bytes.Fields(b)
	if len(f) < 4 {
		return 0, false
	}
	_, total, ok := bytes.Cut(f[3], []byte("/"))
	if !ok {
		return 0, false
	}
	n, err = strconv.Atoi(string(total))
	return n, err == nil
}
