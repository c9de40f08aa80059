package shell

import (
	"slices"
	"strings"
	"testing"

	"zeroclaw/tools/process"
)

// fake is a machine of which everything is known.
type fake struct {
	programs []string
	free_    uint64
}

func (m fake) found(name string) bool    { return slices.Contains(m.programs, name) }
func (m fake) near(name string) []string { return closest(name, m.programs) }
func (m fake) install(name string) string {
	return map[string]string{"rg": "apt install ripgrep"}[name]
}
func (m fake) free(dir string) (uint64, bool) { return m.free_, true }

func TestDiagnose(t *testing.T) {
	m := fake{programs: []string{"git", "ls", "python3", "go"}, free_: 1 << 30}
	full := m
	full.free_ = 0
	for _, tt := range []struct {
		name   string
		f      facts
		stderr string
		m      prober
		reason string
		hint   []string
	}{
		{"success", facts{}, "bash: x: command not found", m, "", nil},
		{"plain failure", facts{exit: 1}, "3 tests failed", m, "", nil},
		{"bash", facts{exit: 127}, "bash: line 1: gti: command not found\n", m, "command_not_found", []string{"gti", "/usr/bin:/bin", "git"}},
		{"bash with a path", facts{exit: 127}, "/bin/bash: line 1: gti: command not found\n", m, "command_not_found", []string{"gti"}},
		{"dash", facts{exit: 127}, "sh: 1: rg: not found\n", m, "command_not_found", []string{"rg", "apt install ripgrep"}},
		{"dash with a path", facts{exit: 127}, "/bin/sh: 1: rg: not found\n", m, "command_not_found", []string{"rg"}},
		{"busybox", facts{exit: 127}, "sh: python: not found\n", m, "command_not_found", []string{"python", "python3"}},
		{"zsh", facts{exit: 127}, "zsh:1: command not found: gti\n", m, "command_not_found", []string{"gti", "git"}},
		{"fish", facts{exit: 127}, "fish: Unknown command: gti\nfish: \ngti\n^~^\n", m, "command_not_found", []string{"gti"}},
		{"env", facts{exit: 127}, "env: ‘gti’: No such file or directory\n", m, "command_not_found", []string{"gti"}},
		{"PowerShell", facts{exit: 1}, "gti : The term 'gti' is not recognized as the name of a cmdlet\n + FullyQualifiedErrorId : CommandNotFoundException", m, "command_not_found", []string{"gti"}},
		{"German", facts{exit: 127, words: []string{"ls", "gti"}}, "bash: Zeile 1: gti: Kommando nicht gefunden.\nls", m, "command_not_found", []string{"gti", "git"}},
		{"unknown language, no name", facts{exit: 127}, "?", m, "command_not_found", []string{"a program", "/usr/bin:/bin"}},
		{"direct", facts{exit: 127, missing: "lss"}, "", m, "command_not_found", []string{"lss", "ls"}},
		{"file", facts{exit: 127}, "bash: line 1: ./build.sh: No such file or directory\n", m, "file_not_found", []string{"./build.sh", "/work"}},
		{"file in dash", facts{exit: 127}, "sh: 1: ./build.sh: not found\n", m, "file_not_found", []string{"./build.sh"}},
		{"interpreter", facts{exit: 126}, "bash: line 1: ./x: /bin/zork: bad interpreter: No such file or directory\n", m, "bad_interpreter", []string{"./x"}},
		{"interpreter, new bash", facts{exit: 127}, "bash: line 1: ./x: cannot execute: required file not found\n", m, "bad_interpreter", []string{"./x"}},
		{"not executable", facts{exit: 126}, "bash: line 1: ./x: Permission denied\n", m, "not_executable", []string{"./x", "chmod +x"}},
		{"not executable, dash", facts{exit: 126}, "sh: 1: ./a b: Permission denied\n", m, "not_executable", []string{"./a b"}},
		{"not executable, German", facts{exit: 126}, "bash: ./x: Keine Berechtigung\n", m, "not_executable", []string{"chmod +x"}},
		{"other machine's program", facts{exit: 126, system: SystemInfo{Arch: "arm64"}}, "bash: ./x: cannot execute binary file: Exec format error\n", m, "wrong_architecture", []string{"arm64"}},
		{"permission", facts{exit: 1}, "cp: cannot create regular file '/etc/x': Permission denied\n", m, "permission_denied", nil},
		{"sudo", facts{exit: 1}, "sudo: a terminal is required to read the password\n", m, "needs_terminal", nil},
		{"read-only", facts{exit: 1}, "touch: cannot touch 'x': Read-only file system\n", m, "read_only", nil},
		{"disk full", facts{exit: 1}, "dd: error writing 'x': No space left on device\n", full, "disk_full", []string{"/work"}},
		{"disk full, other disk", facts{exit: 1}, "dd: error writing 'x': No space left on device\n", m, "disk_full", nil},
		{"disk full, German", facts{exit: 1}, "dd: Fehler beim Schreiben", full, "disk_full", []string{"/work"}},
		{"disk full, but fine", facts{}, "", full, "", nil},
		{"quota", facts{exit: 1}, "write: Disk quota exceeded", m, "quota", nil},
		{"memory, by the kernel", facts{exit: -1, state: process.State{Signal: "SIGKILL", OOM: true}}, "", m, "memory", nil},
		{"memory, inside a shell", facts{exit: 137, state: process.State{OOM: true}}, "", m, "memory", nil},
		{"memory, refused", facts{exit: 1}, "fork: Cannot allocate memory", m, "memory", nil},
		{"killed", facts{exit: -1, state: process.State{Signal: "SIGKILL"}}, "", m, "killed", nil},
		{"killed inside a shell", facts{exit: 137}, "", m, "killed", nil},
		{"crash", facts{exit: -1, state: process.State{Signal: "SIGSEGV"}}, "", m, "crashed", []string{"SIGSEGV"}},
		{"crash inside a shell", facts{exit: 134}, "", m, "crashed", []string{"SIGABRT"}},
		{"terminated", facts{exit: -1, state: process.State{Signal: "SIGTERM"}}, "", m, "", nil},
		{"timeout", facts{exit: -1, end: timedOut, timeout: 60e9, state: process.State{Signal: "SIGKILL"}}, "", m, "timeout", []string{"60 s"}},
		{"timeout that looks like more", facts{exit: 127, end: timedOut}, "sh: 1: x: not found", full, "timeout", nil},
		{"cancelled", facts{end: cancelled}, "", m, "cancelled", nil},
		{"flood", facts{end: flooded, maxOutput: 256 << 20}, "", m, "output_limit", []string{"256 MiB"}},
		{"storm", facts{tooMany: true, maxProcesses: 1000}, "", m, "too_many_processes", []string{"1000"}},
		{"in the background", facts{end: goesOn, exit: -1, running: []int{1}}, "", m, "", nil},
	} {
		tt.f.cwd, tt.f.path = "/work", "/usr/bin:/bin"
		d := diagnose(tt.f, tt.stderr, tt.m)
		if d.Reason != tt.reason {
			t.Errorf("%s: reason %q (%s), want %q", tt.name, d.Reason, d.Hint, tt.reason)
		}
		for _, want := range tt.hint {
			if !strings.Contains(d.Hint, want) {
				t.Errorf("%s: hint %q, want it to hold %q", tt.name, d.Hint, want)
			}
		}
		if strings.ContainsAny(d.Hint, "{}") {
			t.Errorf("%s: hint %q has a variable without a value", tt.name, d.Hint)
		}
	}
}

func TestClosest(t *testing.T) {
	names := []string{"git", "gitk", "go", "gdb", "ls", "lss", "python3", "pytohn", "node", "nodejs"}
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"gti", []string{"git"}},
		{"pyhton", []string{"python3", "pytohn"}},
		{"python", []string{"python3", "pytohn"}},
		{"nod", []string{"node"}},
		{"git", []string{"gitk"}},
		{"", []string{}},
		{strings.Repeat("x", 100), nil},
	} {
		if got := closest(tt.name, names); !slices.Equal(got, tt.want) {
			t.Errorf("closest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSystem(t *testing.T) {
	if s := System(); s.OS == "" || s.Arch == "" {
		t.Errorf("System = %+v", s)
	}
	for in, want := range map[string]string{
		"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=x\n": "Debian GNU/Linux 12 (bookworm)",
		"NAME='Alpine Linux'\nVERSION=3\n":                         "Alpine Linux 3",
		"#PRETTY_NAME=no\nNAME=Arch\n":                             "Arch",
		"PRETTY_NAME=\"a \\\"b\\\" \\$c\"":                         `a "b" $c`,
		"\x00=":                                                    "",
	} {
		if got := osRelease([]byte(in)); got != want {
			t.Errorf("osRelease(%q) = %q, want %q", in, got, want)
		}
	}
	plist := "<plist><dict><key>ProductName</key>\n<string>macOS</string><key>ProductVersion</key><string>15.1</string></dict></plist>"
	if got := plistValue([]byte(plist), "ProductVersion"); got != "15.1" {
		t.Errorf("plistValue = %q", got)
	}
	if got := plistValue([]byte("<key>ProductVersion</key><string>"), "ProductVersion"); got != "" {
		t.Errorf("plistValue of half a file = %q", got)
	}
}
