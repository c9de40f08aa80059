package shell

import (
	"os"
	"strings"
)

func distribution() string {
	name := ""
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		if b, err := os.ReadFile(path); err == nil {
			name = osRelease(b)
			break
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil && strings.Contains(strings.ToLower(string(b)), "microsoft") {
		name = strings.TrimSpace(name + " (WSL)")
	}
	return name
}
