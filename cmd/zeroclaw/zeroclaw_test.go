package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"zeroclaw/localserver"
)

// asProgram makes the test binary be the program: services started by a
// companion under test run it as "${self} dummy-mcp".
const asProgram = "ZEROCLAW_TEST_AS_PROGRAM"

// standIns are what else the test binary can be, by its first argument.
var standIns = map[string]func(){"stub-mcp": serveStub}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" || len(os.Args) > 1 && os.Args[1] == "dummy-mcp" {
		asMain()
	}
	if len(os.Args) > 1 && standIns[os.Args[1]] != nil {
		standIns[os.Args[1]]()
		return
	}
	testscript.Main(m, map[string]func(){"zeroclaw": asMain, "stub-mcp": serveStub})
}

// asMain is the program, but for the second Ctrl-C.
func asMain() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(execute(ctx, system()))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			return os.MkdirAll(e.WorkDir+"/home", 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await, "companion": runCompanion, "exits": exits},
	})
}

// runCompanion starts a companion that works in the folder work and ends with
// the script. The configuration, if there is one, is in the file config.toml.
func runCompanion(ts *testscript.TestScript, _ bool, _ []string) {
	home, work := ts.Getenv("HOME"), ts.MkAbs("work")
	state := filepath.Join(home, ".zeroclaw")
	ts.Check(os.MkdirAll(state, 0o700))
	ts.Check(os.MkdirAll(work, 0o755))
	if data, err := os.ReadFile(ts.MkAbs("config.toml")); err == nil {
		ts.Check(os.WriteFile(filepath.Join(state, "config.toml"), data, 0o600))
	}
	self, err := os.Executable()
	ts.Check(err)
	cmd := exec.Command(self, "--no-browser", "--port", "0", "--root", work)
	cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+ts.Getenv("PATH"), asProgram+"=1")
	var out bytes.Buffer
	cmd.Stderr = &out
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	ts.Defer(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if i, err := localserver.Find(context.Background(), state); err == nil && i.PID == cmd.Process.Pid {
			return
		}
		select {
		case <-ended:
			ts.Fatalf("the companion ended: %s", out.String())
		default:
		}
		if time.Now().After(end) {
			ts.Fatalf("the companion did not start")
		}
	}
}

// await repeats a command of the program until it succeeds, or with ! fails,
// and prints the given pattern: await PATTERN ARGS….
func await(ts *testscript.TestScript, neg bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	var last string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		err := ts.Exec("zeroclaw", args[1:]...)
		last = ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if (err != nil) == neg && want.MatchString(last) {
			return
		}
	}
	ts.Fatalf("zeroclaw %s never printed %s, last:\n%s", strings.Join(args[1:], " "), args[0], last)
}

// exits runs the program and wants an exit code: exits CODE ARGS….
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("zeroclaw", args[1:]...)
	code := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("zeroclaw %s exited with %d (%v), want %s", strings.Join(args[1:], " "), code, err, args[0])
	}
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come within 15 s", what)
		}
	}
}
