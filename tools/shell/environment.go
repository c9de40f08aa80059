package shell

import (
	"context"
	"runtime"
	"strings"
)

// fixedPath is the PATH of commands that run without a shell.
const fixedPath = "/usr/bin:/bin:/usr/sbin:/sbin"

// direct are the variables that a command which runs without a shell gets
// from the user: who and where, and in which language.
var direct = map[string]bool{
	"HOME": true, "USER": true, "LOGNAME": true, "LANG": true, "LANGUAGE": true,
	"LC_ALL": true, "LC_CTYPE": true, "LC_MESSAGES": true, "LC_TIME": true, "LC_NUMERIC": true, "LC_COLLATE": true, "TZ": true,
}

// directEnv is the environment of a command that runs without a shell.
func directEnv(environ []string, secret func(string) bool, cwd string) []string {
	out := []string{}
	for _, kv := range shellEnv(environ, secret, "", cwd) {
		if name, _, _ := strings.Cut(kv, "="); direct[name] || name == "PWD" {
			out = append(out, kv)
		}
	}
	return append(out, "PATH="+fixedPath)
}

// shellEnv is the user's environment less what belongs to the companion and
// what is secret. path replaces PATH where it is not "".
func shellEnv(environ []string, secret func(string) bool, path, cwd string) []string {
	out := make([]string, 0, len(environ)+2)
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" && runtime.GOOS != "windows" {
			continue
		}
		upper := strings.ToUpper(name)
		if strings.HasPrefix(upper, "ZEROCLAW_") || upper == "PWD" || upper == "PATH" && path != "" || secret(value) {
			continue
		}
		out = append(out, kv)
	}
	if path != "" {
		out = append(out, "PATH="+path)
	}
	if runtime.GOOS != "windows" {
		out = append(out, "PWD="+cwd)
	}
	return out
}

// environment of a command; also the PATH in it.
func (s *Shell) environment(ctx context.Context, plain bool, cwd string) (env []string, path string) {
	if plain {
		return directEnv(s.c.Environ(), s.c.Secret, cwd), fixedPath
	}
	if s.c.Path != nil {
		path = s.c.Path(ctx)
	}
	env = shellEnv(s.c.Environ(), s.c.Secret, path, cwd)
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	return env, path
}
