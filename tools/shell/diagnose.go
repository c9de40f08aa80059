package shell

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"zeroclaw/tools/process"
)

// Diagnosis says where a command ran and, for a failure whose cause is known,
// the cause.
type Diagnosis struct {
	OS           string `json:"os"` // "linux", "darwin", "windows"
	Distribution string `json:"distribution"`
	Arch         string `json:"arch"`
	Shell        string `json:"shell"`
	Cwd          string `json:"cwd"`
	// Reason is a stable name, "" when there is nothing to say: command_not_found,
	// file_not_found, not_executable, bad_interpreter, wrong_architecture,
	// permission_denied, needs_terminal, read_only, disk_full, quota, memory,
	// killed, crashed, timeout, cancelled, too_many_processes, output_limit.
	Reason string            `json:"reason,omitempty"`
	Hint   string            `json:"hint,omitempty"` // one sentence: what happened and what to do
	Args   map[string]string `json:"args,omitempty"` // the variables of Hint, for translation
}

// prober looks at the machine for a diagnosis.
type prober interface {
	found(name string) bool              // name is a program on the PATH
	near(name string) []string           // programs on the PATH with similar names
	install(name string) string          // a command that installs it, "" if not known
	free(dir string) (n uint64, ok bool) // bytes that this user may still write
}

// diagnose finds the reason of a failure. Everything it asks of the machine goes through m.
func diagnose(f facts, stderr string, m prober) Diagnosis {
	d := Diagnosis{
		OS: f.system.OS, Distribution: f.system.Distribution, Arch: f.system.Arch,
		Shell: f.shell, Cwd: f.cwd,
	}
	if len(stderr) > 64<<10 {
		stderr = stderr[len(stderr)-64<<10:]
	}
	say := func(reason, hint string, args ...string) Diagnosis {
		d.Reason, d.Hint = reason, hint
		for i := 0; i+1 < len(args); i += 2 {
			if d.Args == nil {
				d.Args = map[string]string{}
			}
			d.Args[args[i]] = args[i+1]
			d.Hint = strings.ReplaceAll(d.Hint, "{"+args[i]+"}", args[i+1])
		}
		return d
	}
	switch {
	case f.tooMany:
		return say("too_many_processes", "it started more than {max} processes, so it was ended with all of them; run fewer at a time", "max", strconv.Itoa(f.maxProcesses))
	case f.end == timedOut:
		return say("timeout", "it did not end within {seconds} s, so it was ended with everything it had started; the output so far is above. Give a larger timeout_seconds (up to 600), or background: true for something that is meant to go on",
			"seconds", strconv.Itoa(int(f.timeout/time.Second)))
	case f.end == flooded:
		return say("output_limit", "it wrote more than {mib} MiB, so it was ended; send the output to a file, or filter it", "mib", strconv.FormatInt(f.maxOutput>>20, 10))
	case f.end == cancelled:
		return say("cancelled", "the call was cancelled, so it was ended with everything it had started")
	case f.end == goesOn && len(f.running) > 0, f.exit == 0 && f.state.Signal == "":
		return d
	case f.state.OOM:
		return say("memory", "the system ran out of memory and killed it; give it less to do at a time, or free memory")
	}
	if full, ok := spaceReason(f, stderr, m); ok {
		return say(full.reason, full.hint, full.args...)
	}
	switch {
	case f.state.Signal == "SIGKILL", f.exit == 128+9:
		return say("killed", "something outside killed it (SIGKILL), which most often means that memory ran out; give it less to do at a time, or look at the system's log")
	case crashSignals[f.state.Signal], f.exit > 128 && crashSignals[signalOf(f.exit)]:
		sig := f.state.Signal
		if sig == "" {
			sig = signalOf(f.exit)
		}
		return say("crashed", "the program crashed ({signal}); that is a fault inside it", "signal", sig)
	case f.exit == 127 || f.exit == 9009 || f.missing != "":
		return notFound(f, stderr, m, say)
	case strings.Contains(stderr, "CommandNotFoundException"):
		return notFound(f, stderr, m, say)
	}
	if r, ok := textReason(f, stderr); ok {
		return say(r.reason, r.hint, r.args...)
	}
	return d
}

// cause is one reason before it is written into a Diagnosis.
type cause struct {
	reason, hint string
	args         []string
}

// crashSignals are sent for faults of the program itself.
var crashSignals = map[string]bool{"SIGSEGV": true, "SIGBUS": true, "SIGILL": true, "SIGABRT": true, "SIGFPE": true, "SIGTRAP": true, "SIGSYS": true}

// signalOf names the signal in an exit code of a shell, where the number is
// the same on Linux and macOS.
func signalOf(exit int) string {
	return map[int]string{4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV"}[exit-128]
}

// spaceReason looks for a full disk: by the error text, or, since that text may
// be in any language, by the free space itself.
func spaceReason(f facts, stderr string, m prober) (cause, bool) {
	if has(stderr, "disk quota exceeded", "edquot") {
		return cause{"quota", "the user's disk quota is used up; delete something first", nil}, true
	}
	said := has(stderr, "no space left on device", "enospc", "not enough space on the disk", "disk full")
	for _, dir := range []string{f.cwd, tempDir()} {
		n, ok := m.free(dir)
		if ok && n < 1<<20 && (said || n < 64<<10) {
			return cause{"disk_full", "the disk of {folder} is full ({free} bytes free); delete something first", []string{"folder", dir, "free", strconv.FormatUint(n, 10)}}, true
		}
	}
	if said {
		return cause{"disk_full", "a disk it writes to is full (or out of inodes); delete something first", nil}, true
	}
	return cause{}, false
}

// pattern is a regular expression that is compiled at its first use: few
// commands fail in a way that must be looked into.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// What shells print when they do not find a program. The name is group 1.
var notFoundTexts = []func() *regexp.Regexp{
	pattern(`(?m)^(?:\S*/)?(?:ba|da|a|k|mk)?sh: (?:line \d+: |\d+: )?(\S+?): (?:command )?not found\s*$`),
	pattern(`(?m)^(?:\S*/)?zsh:(?:\d+:)? command not found: (\S+)\s*$`),
	pattern(`(?m)^(?:\S*/)?fish: Unknown command:? '?([^\s']+)'?`),
	pattern(`(?m)^(?:\S*/)?(?:env|nohup|timeout|nice|xargs|setsid|stdbuf): .*?[‘'"` + "`" + `]?([^\s‘’'"` + "`" + `:]+)[’'"]?: No such file or directory\s*$`),
	pattern(`(?m)^(\S+) : The term '[^']+' is not recognized`),
	pattern(`(?m)^'?"?([^'"\s]+)"?'? is not recognized as an internal or external command`),
}

var noSuchFile = pattern(`(?m)^(?:\S*/)?(?:ba|da|a|k|mk|z)?sh: ?(?:line \d+: ?|\d+: ?)?(\S*/\S*?): (?:not found|No such file or directory)\s*$`)

var badInterpreter = pattern(`([^\s:]*/[^\s:]*): (?:\S+: bad interpreter|cannot execute: required file not found)`)

// notFound explains an exit code 127.
func notFound(f facts, stderr string, m prober, say func(string, string, ...string) Diagnosis) Diagnosis {
	if b := badInterpreter().FindStringSubmatch(stderr); b != nil {
		return say("bad_interpreter", "the program named in the first line of {name} is not installed; install it or correct the line", "name", b[1])
	}
	if n := noSuchFile().FindStringSubmatch(stderr); n != nil && f.missing == "" {
		return say("file_not_found", "there is no file {name} to run, seen from {cwd}; look with list_directory, or give another cwd", "name", n[1], "cwd", f.cwd)
	}
	name := f.missing
	for _, re := range notFoundTexts {
		if n := re().FindStringSubmatch(stderr); name == "" && n != nil {
			name = n[1]
		}
	}
	// The text may be in any language: the name is a word of the command that stands in it and is no program.
	for _, w := range f.words {
		if name == "" && len(w) > 1 && !strings.ContainsAny(w, "/=") && strings.Contains(stderr, w) && !m.found(w) {
			name = w
		}
	}
	where := strings.Join(process.SearchFolders(f.path), string(filepath.ListSeparator))
	if name == "" {
		return say("command_not_found", "a program was not found; searched: {path}", "path", where)
	}
	hint, args := "the program {name} was not found; searched: {path}", []string{"name", name, "path", where}
	if near := m.near(name); len(near) > 0 {
		hint += ". Similar names there: {near}"
		args = append(args, "near", strings.Join(near, ", "))
	}
	if how := m.install(name); how != "" {
		hint += ". It can be installed with: {install}"
		args = append(args, "install", how)
	}
	return say("command_not_found", hint, args...)
}

var notExecutable = pattern(`(?m)^(?:\S*/)?(?:ba|da|a|k|mk|z|)sh: ?(?:line \d+: ?|\d+: ?)?(.+?): (?:Permission denied|permission denied|Is a directory|is a directory)\s*$`)

// textReason looks at what the command said about its failure.
func textReason(f facts, stderr string) (cause, bool) {
	switch {
	case has(stderr, "bad interpreter", "cannot execute: required file not found"):
		name := "the file"
		if b := badInterpreter().FindStringSubmatch(stderr); b != nil {
			name = b[1]
		}
		return cause{"bad_interpreter", "the program named in the first line of {name} is not installed; install it or correct the line", []string{"name", name}}, true
	case has(stderr, "exec format error", "cannot execute binary file", "bad cpu type"):
		return cause{"wrong_architecture", "the file is no program for this system ({arch}), or a script without a first line that names its interpreter", []string{"arch", f.system.Arch}}, true
	case f.exit == 126:
		name := ""
		if n := notExecutable().FindStringSubmatch(stderr); n != nil {
			name = n[1]
		}
		if name == "" {
			return cause{"not_executable", "a file it should run may not be executed; make it executable with chmod +x, or run it through its interpreter", nil}, true
		}
		return cause{"not_executable", "{name} may not be executed; make it executable with chmod +x, or run it through its interpreter (for example sh {name})", []string{"name", name}}, true
	case has(stderr, "a terminal is required", "no tty present", "must be run from a terminal", "not a tty", "inappropriate ioctl", "could not read password", "could not read username", "/dev/tty"):
		return cause{"needs_terminal", "it wants a terminal to ask something, and there is none here; use a flag that answers, or run it yourself in a terminal", nil}, true
	case has(stderr, "read-only file system", "erofs"):
		return cause{"read_only", "it tried to write to a file system that is mounted read-only; write elsewhere", nil}, true
	case has(stderr, "permission denied", "operation not permitted", "eacces", "eperm", "access is denied", "unauthorizedaccess", "must be root", "are you root"):
		return cause{"permission_denied", "the system did not let this user do it; use files that belong to the user, or run that step yourself with the needed rights", nil}, true
	case has(stderr, "cannot allocate memory", "out of memory", "enomem", "std::bad_alloc"):
		return cause{"memory", "it could not get the memory it asked for; give it less to do at a time, or free memory", nil}, true
	}
	return cause{}, false
}

// has reports whether text holds one of the words, whatever their case.
func has(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
