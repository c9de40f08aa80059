package localserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestApps(t *testing.T) {
	tests := []struct {
		os, home string
		env      map[string]string
		want     string
	}{
		{"linux", "/home/me", nil, "/home/me/.config/Claude/claude_desktop_config.json /home/me/.claude.json /home/me/.config/Code/User/mcp.json /home/me/.cursor/mcp.json"},
		{"linux", "/home/me", map[string]string{"XDG_CONFIG_HOME": "/cfg", "CLAUDE_CONFIG_DIR": "/cc"}, "/cfg/Claude/claude_desktop_config.json /cc/.claude.json /cfg/Code/User/mcp.json /home/me/.cursor/mcp.json"},
		{"linux", "/home/me", map[string]string{"XDG_CONFIG_HOME": "cfg", "CLAUDE_CONFIG_DIR": "~/cc", "APPDATA": `C:\x`}, "/home/me/.config/Claude/claude_desktop_config.json /home/me/.claude.json /home/me/.config/Code/User/mcp.json /home/me/.cursor/mcp.json"},
		{"darwin", "/Users/me", map[string]string{"XDG_CONFIG_HOME": "/cfg"}, "/Users/me/Library/Application Support/Claude/claude_desktop_config.json /Users/me/.claude.json /Users/me/Library/Application Support/Code/User/mcp.json /Users/me/.cursor/mcp.json"},
		{"windows", `C:\Users\me`, map[string]string{"APPDATA": `C:\Users\me\AppData\Roaming`}, `C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json C:\Users\me\.claude.json C:\Users\me\AppData\Roaming\Code\User\mcp.json C:\Users\me\.cursor\mcp.json`},
		{"windows", `C:\Users\me\`, nil, `C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json C:\Users\me\.claude.json C:\Users\me\AppData\Roaming\Code\User\mcp.json C:\Users\me\.cursor\mcp.json`},
		{"linux", "", nil, "   "},
	}
	for _, tt := range tests {
		var paths []string
		for _, a := range Apps(AppHost{OS: tt.os, Home: tt.home, Getenv: func(n string) string { return tt.env[n] }, Command: "/z"}) {
			paths = append(paths, a.Path)
		}
		if got := strings.Join(paths, " "); got != tt.want {
			t.Errorf("on %s with %v the files are\n%s\nwant\n%s", tt.os, tt.env, got, tt.want)
		}
	}
}

func TestAppSnippets(t *testing.T) {
	h := AppHost{OS: "darwin", Home: "/Users/me", Getenv: func(string) string { return "" }, Command: `/Applications/My "Apps"/zeroclaw`, Agent: "a b", URL: "http://127.0.0.1:6388/mcp"}
	for _, a := range Apps(h) {
		type server struct {
			Type, Command, URL string
			Args               []string
			Headers            map[string]string
		}
		read := func(text string) server {
			var file map[string]map[string]server
			if err := json.Unmarshal([]byte(text), &file); err != nil || len(file) != 1 || len(file[a.Section]) != 1 {
				t.Fatalf("%s: %v\n%s", a.ID, err, text)
			}
			return file[a.Section][AppEntry]
		}
		s := read(a.Snippet)
		if s.Command != h.Command || strings.Join(s.Args, "|") != "mcp|--agent|a b" {
			t.Errorf("%s starts %q with %q", a.ID, s.Command, s.Args)
		}
		var entry server
		if err := json.Unmarshal(a.Entry, &entry); err != nil || entry.Command != h.Command {
			t.Errorf("%s: the entry is %s, %v", a.ID, a.Entry, err)
		}
		if a.Install != `'/Applications/My "Apps"/zeroclaw' mcp install `+a.ID+` --agent 'a b'` {
			t.Errorf("%s is installed by %s", a.ID, a.Install)
		}
		if a.ID == "claude-desktop" {
			if a.HTTP != "" {
				t.Errorf("%s takes no address, but %s", a.ID, a.HTTP)
			}
			continue
		}
		if s := read(a.HTTP); s.URL != h.URL || s.Headers["Authorization"] != "Bearer "+TokenPlace || s.Command != "" {
			t.Errorf("%s by address: %+v", a.ID, s)
		}
	}
	h.Agent, h.URL = "", ""
	if a := Apps(h)[3]; !strings.Contains(a.Snippet, `["mcp", "--agent", "assistant"]`) || a.HTTP != "" || strings.Contains(a.Install, "--agent") {
		t.Errorf("without an agent: %+v", a)
	}
}

// TestAppFolder: another program does not know which folder this companion uses.
func TestAppFolder(t *testing.T) {
	for _, tt := range []struct{ os, dir, command, install string }{
		{"linux", "/my folder", "/z", "ZEROCLAW_CONFIG_DIR='/my folder' /z mcp install cursor"},
		{"windows", `C:\it's`, `C:\z.exe`, `$env:ZEROCLAW_CONFIG_DIR = 'C:\it''s'; C:\z.exe mcp install cursor`},
	} {
		h := AppHost{OS: tt.os, Home: "/home/me", Command: tt.command, Getenv: func(name string) string {
			if name == "ZEROCLAW_CONFIG_DIR" {
				return tt.dir
			}
			return ""
		}}
		a := Apps(h)[3]
		var entry struct{ Env map[string]string }
		if err := json.Unmarshal(a.Entry, &entry); err != nil || entry.Env["ZEROCLAW_CONFIG_DIR"] != tt.dir {
			t.Errorf("the entry is %s, %v", a.Entry, err)
		}
		if a.Install != tt.install {
			t.Errorf("installed by %s, want %s", a.Install, tt.install)
		}
	}
}

func TestShellWord(t *testing.T) {
	for _, tt := range []struct{ os, in, want string }{
		{"linux", "/usr/bin/zeroclaw", "/usr/bin/zeroclaw"},
		{"linux", "/home/it's/z", `'/home/it'\''s/z'`},
		{"linux", `a\b`, `'a\b'`},
		{"linux", "", "''"},
		{"windows", `C:\Users\me\zeroclaw.exe`, `C:\Users\me\zeroclaw.exe`},
		{"windows", `C:\Program Files\it's.exe`, `'C:\Program Files\it''s.exe'`},
	} {
		if got := shellWord(tt.os, tt.in); got != tt.want {
			t.Errorf("shellWord(%s, %q) = %s, want %s", tt.os, tt.in, got, tt.want)
		}
	}
	h := AppHost{OS: "windows", Home: `C:\U`, Getenv: func(string) string { return "" }, Command: `C:\My Apps\z.exe`}
	if got := Apps(h)[0].Install; got != `& 'C:\My Apps\z.exe' mcp install claude-desktop` {
		t.Errorf("the command is %s", got)
	}
}

func TestThrowaway(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	for path, want := range map[string]bool{
		"/tmp/go-build123/b001/exe/zeroclaw":                              true,
		`C:\Users\me\AppData\Local\Temp\go-build99\b001\exe\zeroclaw.exe`: true,
		"/home/me/.cache/go-build/ab/" + hash + "-d/zeroclaw":             true,
		"/var/cache/" + hash + "-d/zeroclaw":                              true,
		"/home/me/go/bin/zeroclaw":                                        false,
		"/home/me/my-go-build/zeroclaw":                                   false,
		"/home/me/" + hash + "/zeroclaw":                                  false,
		"/home/me/src/go-builder.md":                                      false,
		`C:\Program Files\ZeroClaw\zeroclaw.exe`:                          false,
	} {
		if got := Throwaway(path); got != want {
			t.Errorf("Throwaway(%q) = %v, want %v", path, got, want)
		}
	}
}
