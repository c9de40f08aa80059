package resolve

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ownProcess reports whether a path is the entry of the companion, of one of
// its children or of one of their threads in /proc, or inside it.
func (r *Resolver) ownProcess(p string) bool {
	rest, ok := strings.CutPrefix(p, "/proc/")
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rest, "/")
	if first == "self" || first == "thread-self" {
		return true
	}
	n, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	for _, pid := range r.pids() {
		if n == pid {
			return true
		}
		// A thread has an entry of its own, which no listing shows.
		if _, err := os.Lstat(fmt.Sprintf("/proc/%d/task/%d", pid, n)); err == nil {
			return true
		}
	}
	return false
}
