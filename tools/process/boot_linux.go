package process

import (
	"os"
	"strings"
)

// bootID tells one start of the system from another: start times of processes
// count from it.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}
