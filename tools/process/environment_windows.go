package process

import (
	"os"
	"strings"
)

// environment adds SystemRoot, without which most programs do not even load.
func environment(env []string) []string {
	out := append([]string{}, env...)
	for _, kv := range env {
		if len(kv) > 11 && strings.EqualFold(kv[:11], "SYSTEMROOT=") {
			return out
		}
	}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		out = append(out, "SYSTEMROOT="+root)
	}
	return out
}
