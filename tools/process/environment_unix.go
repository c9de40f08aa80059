//go:build unix

package process

func environment(env []string) []string {
	if env == nil {
		return []string{}
	}
	return env
}
