package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/localserver"
)

// mcpProgram is zeroclaw mcp as a process of its own.
func mcpProgram(t *testing.T, home string, args ...string) (*exec.Cmd, *buffer) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "ZEROCLAW_CONFIG_DIR=", "ZEROCLAW_server__port=0", asProgram+"=1")
	var errs buffer
	cmd.Stderr = &errs
	return cmd, &errs
}

// endCompanion ends the companion of a home folder and waits for its end.
func endCompanion(t *testing.T, home string) {
	state := filepath.Join(home, ".zeroclaw")
	ctx := context.WithoutCancel(t.Context())
	i, err := localserver.Find(ctx, state)
	if err != nil {
		return
	}
	if err := i.Do(ctx, "POST", "/api/quit", map[string]any{}, nil); err != nil {
		t.Errorf("end the companion: %v", err)
	}
	wait(t, "the end of the companion", func() bool {
		release, err := localserver.Acquire(state)
		if err == nil {
			release()
		}
		return err == nil
	})
}

// TestMCPStartsCompanion: two bridges at once start one companion, which
// outlives them and prints nothing where the protocol is.
func TestMCPStartsCompanion(t *testing.T) {
	home := t.TempDir()
	t.Cleanup(func() { endCompanion(t, home) })
	one, oneErr := mcpProgram(t, home)
	two, twoErr := mcpProgram(t, home)
	var out buffer
	one.Stdout, two.Stdout = &out, &out
	for _, c := range []*exec.Cmd{one, two} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*exec.Cmd{one, two} {
		if err := c.Wait(); err != nil {
			t.Fatalf("%v\n%s%s", err, oneErr, twoErr)
		}
	}
	if out.String() != "" {
		t.Errorf("they printed %s", &out)
	}
	state := filepath.Join(home, ".zeroclaw")
	i, err := localserver.Find(t.Context(), state)
	if err != nil {
		t.Fatalf("no companion is left: %v\n%s%s", err, oneErr, twoErr)
	}
	if i.PID == one.Process.Pid || i.PID == two.Process.Pid {
		t.Error("a bridge became the companion")
	}
	log, err := os.ReadFile(filepath.Join(state, "logs", "zeroclaw.log"))
	if err != nil || bytes.Contains(log, []byte("#code=")) {
		t.Errorf("the log: %v\n%s", err, log)
	}
	again, errs := mcpProgram(t, home)
	if err := again.Run(); err != nil || errs.String() != "" {
		t.Errorf("a third one: %v, %s", err, errs)
	}
	if now, err := localserver.Find(t.Context(), state); err != nil || now.PID != i.PID {
		t.Errorf("then %v, %v runs, want %v", now.PID, err, i.PID)
	}
}

// TestMCPSaysWhy no companion could be started.
func TestMCPSaysWhy(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, ".zeroclaw")
	if err := os.MkdirAll(filepath.Join(state, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "run"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, errs := mcpProgram(t, home)
	out, err := cmd.Output()
	if err == nil || len(out) > 0 || !strings.Contains(errs.String(), "start the companion: create the state folder") {
		t.Errorf("ended with %v, printed %q and %s", err, out, errs)
	}
}

// mcpClient is a client before a bridge that is a process of its own.
type mcpClient struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	errs  *buffer
}

func startMCP(t *testing.T, home string, args ...string) *mcpClient {
	t.Helper()
	c := &mcpClient{t: t, lines: make(chan string, 100)}
	c.cmd, c.errs = mcpProgram(t, home, args...)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	return c
}

// ask sends a request and returns its response; the rest is seen by also.
func (c *mcpClient) ask(id, method, params string, also func(message)) message {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		c.t.Fatalf("%v\n%s", err, c.errs)
	}
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.t.Fatalf("the bridge ended\n%s", c.errs)
			}
			m, err := newMessage([]byte(line))
			if err != nil {
				c.t.Fatalf("the bridge printed %q", line)
			}
			if m.method == "" && string(m.id) == id {
				return m
			}
			if also != nil {
				also(m)
			}
		case <-time.After(20 * time.Second):
			c.t.Fatalf("%s was not answered\n%s", method, c.errs)
		}
	}
}

// TestMCPWithCompanion lists and calls a tool in both protocol eras, with a
// restart of the companion in between that the client sees nothing of.
func TestMCPWithCompanion(t *testing.T) {
	home := t.TempDir()
	t.Cleanup(func() { endCompanion(t, home) })
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(filepath.Join(home, ".zeroclaw"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "a.txt"), []byte("what it holds"), 0o644); err != nil {
		t.Fatal(err)
	}
	rule, _ := json.Marshal("R:" + work + "/**")
	if err := os.WriteFile(filepath.Join(home, ".zeroclaw", "config.toml"), []byte("[permissions]\ndirectories = ["+string(rule)+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, _ := json.Marshal(filepath.Join(work, "a.txt"))
	read := `{"name":"read_file","arguments":{"path":` + string(path) + `}}`
	c := startMCP(t, home)
	check := func(m message, want string) {
		t.Helper()
		if !strings.Contains(string(m.raw), want) {
			t.Fatalf("got %s, want %s\n%s", m.raw, want, c.errs)
		}
	}
	check(c.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, nil), `"protocolVersion":"2025-11-25"`)
	if _, err := io.WriteString(c.in, initialized+"\n"); err != nil {
		t.Fatal(err)
	}
	check(c.ask("1", "tools/list", `{}`, nil), `"read_file"`)
	check(c.ask("2", "tools/call", read, nil), "what it holds")
	before, err := localserver.Find(t.Context(), filepath.Join(home, ".zeroclaw"))
	if err != nil {
		t.Fatal(err)
	}
	endCompanion(t, home)
	changed := 0
	check(c.ask("3", "tools/call", read, func(m message) {
		if m.method == "notifications/tools/list_changed" {
			changed++
		}
	}), "what it holds")
	after, err := localserver.Find(t.Context(), filepath.Join(home, ".zeroclaw"))
	if err != nil || after.PID == before.PID || changed == 0 {
		t.Errorf("companion %d came after %d, %v; the client heard %d times of it", after.PID, before.PID, err, changed)
	}
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the bridge ended with %v\n%s", err, c.errs)
	}
	wait(t, "the end of the session", func() bool {
		var all struct{ Sessions []struct{ ID string } }
		return after.Do(t.Context(), "GET", "/api/sessions", nil, &all) == nil && len(all.Sessions) == 0
	})

	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	c = startMCP(t, home, "--allowed-tools", "read_file")
	check(c.ask("1", "server/discover", `{`+meta+`}`, nil), "2026-07-28")
	if m := c.ask("2", "tools/list", `{`+meta+`}`, nil); strings.Contains(string(m.raw), "execute_command") {
		t.Errorf("one allowed tool gives %s", m.raw)
	}
	check(c.ask("3", "tools/call", strings.TrimSuffix(read, "}")+","+meta+"}", nil), "what it holds")
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the bridge ended with %v\n%s", err, c.errs)
	}
}

// TestMCPAfterKill passes one server through, and loses the companion while a
// call of it asks the client something.
func TestMCPAfterKill(t *testing.T) {
	home := t.TempDir()
	t.Cleanup(func() { endCompanion(t, home) })
	state, list := filepath.Join(home, ".zeroclaw"), filepath.Join(home, "tools.json")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte(`[{"name":"form","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, _ := json.Marshal(self)
	file, _ := json.Marshal(list)
	config := "[[mcp.servers]]\nname = \"stub\"\ntransport = \"stdio\"\ncommand = " + string(program) + "\nargs = [\"stub-mcp\", " + string(file) + "]\n" +
		"[mcp_bundles.s]\nservers = [\"stub\"]\n[agents.w]\nmcp_bundles = [\"s\"]\nrisk_profile = \"open\"\n[risk_profiles.open]\nauto_approve = [\"*\"]\n"
	if err := os.WriteFile(filepath.Join(state, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startMCP(t, home, "--server", "stub", "--agent", "w")
	if m := c.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`, nil); isError(m.raw) {
		t.Fatalf("got %s\n%s", m.raw, c.errs)
	}
	if _, err := io.WriteString(c.in, initialized+"\n"); err != nil {
		t.Fatal(err)
	}
	if m := c.ask("1", "tools/call", `{"name":"echo","arguments":{"a":"first"}}`, nil); !strings.Contains(string(m.raw), "first") {
		t.Fatalf("got %s\n%s", m.raw, c.errs)
	}
	before, err := localserver.Find(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	asked, cancelled := "", ""
	m := c.ask("2", "tools/call", `{"name":"form","arguments":{}}`, func(m message) {
		switch m.method {
		case "elicitation/create":
			asked = string(m.id)
			p, err := os.FindProcess(before.PID)
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				t.Error(err)
			}
		case "notifications/cancelled":
			cancelled = string(m.cancels)
		}
	})
	if !strings.Contains(string(m.raw), "outcome_unknown") || asked == "" {
		t.Errorf("the call that asked %q was answered with %s", asked, m.raw)
	}
	m = c.ask("3", "tools/call", `{"name":"echo","arguments":{"a":"second"}}`, func(m message) {
		if m.method == "notifications/cancelled" {
			cancelled = string(m.cancels)
		}
	})
	if !strings.Contains(string(m.raw), "second") || cancelled != asked {
		t.Errorf("then it answered %s; the question %s was taken back as %q\n%s", m.raw, asked, cancelled, c.errs)
	}
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the bridge ended with %v\n%s", err, c.errs)
	}
}
