//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/localserver"
)

// companion is the program as a process of its own.
type companion struct {
	t    *testing.T
	home string
	cmd  *exec.Cmd
	err  *bytes.Buffer
	localserver.Instance
}

func startCompanion(t *testing.T, home string) *companion {
	t.Helper()
	c := &companion{t: t, home: home, err: &bytes.Buffer{}}
	c.cmd = exec.Command(os.Args[0], "--no-browser", "--port", "0", "--root", filepath.Join(home, "work"))
	c.cmd.Env = append(os.Environ(), "HOME="+home, asProgram+"=1")
	c.cmd.Stderr = c.err
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		i, err := localserver.Find(t.Context(), filepath.Join(home, ".zeroclaw"))
		if err == nil && i.PID == c.cmd.Process.Pid {
			c.Instance = i
			return c
		}
		if time.Now().After(end) {
			t.Fatalf("the companion did not start: %v\n%s", err, c.err)
		}
	}
}

func (c *companion) do(method, path string, in, out any) {
	c.t.Helper()
	if err := c.Do(c.t.Context(), method, path, in, out); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// TestKillLeavesNothing ends the companion with SIGKILL while a command and a
// service run. The next start finds nothing of them after five seconds, and
// the conversation with its call, marked as interrupted.
func TestKillLeavesNothing(t *testing.T) {
	home := t.TempDir()
	marker := fmt.Sprintf("31%07d", os.Getpid()) // seconds that nobody else sleeps
	if err := os.Mkdir(filepath.Join(home, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := startCompanion(t, home)
	var conversation, session struct {
		ID      string `json:"id"`
		Version int64  `json:"version"`
	}
	c.do("POST", "/api/conversations", map[string]any{"title": "Killed"}, &conversation)
	c.do("POST", "/api/conversations/"+conversation.ID+"/messages", map[string]any{
		"version": conversation.Version, "after": 0, "messages": []any{map[string]any{"id": "m1", "role": "user", "data": map[string]any{"text": "hello"}}},
	}, nil)
	c.do("POST", "/api/sessions", map[string]any{"conversation": conversation.ID}, &session)
	c.do("POST", "/api/services/dummy_mcp/start", map[string]any{}, nil)
	call := func(id, command string) {
		_ = c.Do(t.Context(), "POST", "/api/sessions/"+session.ID+"/calls", map[string]any{
			"tool": "execute_command", "call_id": id, "arguments": map[string]any{"command": command},
		}, nil)
	}
	// One that detaches itself must go as well.
	go call("c1", "setsid sleep "+marker+" & sleep "+marker)
	wait(t, "the question", func() bool {
		var open struct{ Approvals []struct{ ID string } }
		c.do("GET", "/api/approvals", nil, &open)
		if len(open.Approvals) == 0 {
			return false
		}
		c.do("POST", "/api/approvals/"+open.Approvals[0].ID, map[string]any{"decision": "once"}, nil)
		return true
	})
	wait(t, "the command", func() bool { return len(running("sleep", marker)) == 2 })
	wait(t, "the service", func() bool { return len(children(c.PID)) > 1 })
	go call("c2", "date | cat")
	wait(t, "the second question", func() bool {
		var open struct{ Approvals []struct{ ID string } }
		c.do("GET", "/api/approvals", nil, &open)
		return len(open.Approvals) == 1
	})
	before := children(c.PID)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()

	c = startCompanion(t, home)
	start := time.Now()
	wait(t, "the sweep", func() bool {
		return len(running("sleep", marker)) == 0 && !slices.ContainsFunc(before, alive)
	})
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v until nothing was left", took)
	}
	var calls struct {
		Calls []struct {
			CallID string `json:"call_id"`
			Status string `json:"status"`
			Key    string `json:"key"`
		}
	}
	c.do("GET", "/api/conversations/"+conversation.ID+"/calls", nil, &calls)
	if got := fmt.Sprint(calls.Calls); got != "[{c1 interrupted interrupted} {c2 interrupted interrupted_waiting}]" {
		t.Errorf("the conversation's calls are %s", got)
	}
	var audit struct {
		Entries []struct {
			Call   string `json:"call_id"`
			Client string `json:"client"`
		}
	}
	c.do("GET", "/api/audit?outcome=interrupted", nil, &audit)
	if got := fmt.Sprint(audit.Entries); got != "[{c2 cli} {c1 cli}]" {
		t.Errorf("the audit log tells of the interrupted calls %s", got)
	}
	var messages struct{ Messages []json.RawMessage }
	c.do("GET", "/api/conversations/"+conversation.ID+"/messages", nil, &messages)
	if len(messages.Messages) != 1 {
		t.Errorf("the conversation has %d messages, want 1", len(messages.Messages))
	}
}

// running lists the processes whose command line holds both texts.
func running(program, argument string) []string {
	var out []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		data, err := os.ReadFile(f)
		line := strings.ReplaceAll(string(data), "\x00", " ")
		if err == nil && strings.HasPrefix(line, program) && strings.Contains(line, argument) {
			out = append(out, f)
		}
	}
	return out
}

// alive reports whether a process runs. One that has ended and was not reaped
// does not.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(data), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// children lists the direct children of a process.
func children(pid int) []int {
	var out []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(data)) {
			var n int
			if _, err := fmt.Sscan(s, &n); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
