package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/localserver"
)

// mcpProgram is zeroclaw mcp as a process of its own.
func mcpProgram(t *testing.T, home string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "ZEROCLAW_CONFIG_DIR=", "ZEROCLAW_server__port=0", asProgram+"=1")
	var errs bytes.Buffer
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
	var out bytes.Buffer
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
	if out.Len() > 0 {
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
	if err := again.Run(); err != nil || errs.Len() > 0 {
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
