//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/process"
)

func TestMain(m *testing.M) {
	if err := process.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("zeroclaw/tools/process.reapForever"))
}

// answer is what a call brought back.
type answer struct {
	structured
	text    string
	isError bool
	err     error
	took    time.Duration
	live    *recorder
}

// recorder takes live output.
type recorder struct {
	mu     sync.Mutex
	events int
	text   map[string]string
}

func (r *recorder) add(stream, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events++
	if r.text == nil {
		r.text = map[string]string{}
	}
	r.text[stream] += text
}

func (r *recorder) get(stream string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text[stream]
}

// call is one test call; zero fields have usable defaults.
type call struct {
	args    map[string]any
	command string
	cwd     string
	argv    []string // runs directly
	session string
	ctx     context.Context
}

func newShell(t *testing.T, c Config) *Shell {
	t.Helper()
	if c.Shell == "" {
		c.Shell = "/bin/sh"
	}
	s := New(c)
	t.Cleanup(func() { s.Close("") })
	return s
}

func (s *Shell) try(t *testing.T, c call) answer {
	t.Helper()
	if c.args == nil {
		c.args = map[string]any{}
	}
	c.args["command"] = c.command
	raw, err := json.Marshal(c.args)
	if err != nil {
		t.Fatal(err)
	}
	if c.cwd == "" {
		c.cwd = t.TempDir()
	}
	if c.ctx == nil {
		c.ctx = context.Background()
	}
	if c.session == "" {
		c.session = "s"
	}
	a := answer{live: &recorder{}}
	cmd := permissions.Command{Text: c.command, Class: permissions.Ambiguous, Words: strings.Fields(c.command),
		Cwd: permissions.Path{Given: c.cwd, Real: c.cwd, Kind: permissions.KindDir}}
	pass := &tools.Pass{Session: c.session, Command: &cmd, Output: a.live.add}
	if c.argv != nil {
		pass.Direct, cmd.Class, cmd.Argv = true, permissions.Simple, c.argv
		cmd.Binary, _ = process.LookPath(c.argv[0], fixedPath, "/")
	}
	began := time.Now()
	res, err := s.Tool().Run(tools.WithPass(c.ctx, pass), raw)
	a.took, a.err, a.isError = time.Since(began), err, res.IsError
	if res.Structured != nil {
		if err := json.Unmarshal(res.Structured, &a.structured); err != nil {
			t.Fatal(err)
		}
		a.text = res.Content[0].Text
	}
	return a
}

func (a answer) exit() int {
	if a.ExitCode == nil {
		return -1
	}
	return *a.ExitCode
}

// patience is what anything may take on a machine that is busy with other
// things. What a test makes wait for ever waits far longer.
const patience = 20 * time.Second

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
