package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("PROCESS_TEST_COMPANION"); path != "" {
		playCompanion(path, os.Getenv("PROCESS_TEST_SCRIPT"))
		return
	}
	if err := Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("zeroclaw/tools/process.reapForever"))
}

// playCompanion is a companion that starts one script, says so, and hangs
// until it is killed.
func playCompanion(ledger, script string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	fail(Subreaper())
	l, err := OpenLedger(ledger)
	fail(err)
	_, err = Start("/bin/sh", []string{"sh", "-c", script}, Options{
		Env: []string{"PATH=/usr/bin:/bin"}, Ledger: l, Stdout: os.Stdout,
	})
	fail(err)
	select {}
}

// named lists the running processes that have word as an argument.
func named(word string) []int {
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, d := range dirs {
		b, _ := os.ReadFile(d)
		for _, arg := range bytes.Split(b, []byte{0}) {
			if string(arg) == word {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(d)))
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

// nap is a duration for sleep that no other process in the system uses.
func nap() string {
	return fmt.Sprintf("3%d.%06d", os.Getpid(), time.Now().UnixNano()%1e6)
}

// Ways out of the group. Each starts "sleep NAP" somewhere else and says "up"
// once it is there.
var escapes = []struct{ name, script string }{
	{"plain child", "sleep NAP & echo up; wait"},
	{"orphan", "sleep NAP & echo up"},
	{"setsid", "setsid sleep NAP & sleep 0.1; echo up; wait"},
	{"setsid orphan", "setsid sleep NAP & sleep 0.1; echo up"},
	{"setsid forked", "setsid -f sleep NAP; echo up"},
	{"double fork", "( ( setsid sleep NAP & ) & ); sleep 0.1; echo up"},
	{"twice setsid", "setsid -f setsid -f sh -c 'trap \"\" TERM HUP; sleep NAP & echo up; wait'"},
	{"own groups", "set -m; sleep NAP & echo up; wait"},
	{"empty environment", "env -i /usr/bin/setsid -f /bin/sleep NAP; echo up"},
	{"closed files", "setsid -f sh -c 'exec sleep NAP <&- >&- 2>&-'; sleep 0.1; echo up"},
}

func TestEscapes(t *testing.T) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			n := nap()
			var out text
			p := sh(t, strings.ReplaceAll(e.script, "NAP", n), Options{Stdout: &out, WaitDelay: patience}) // the direct child may end long before "up"
			until(t, "up", func() bool { return strings.Contains(out.String(), "up") && len(named(n)) > 0 })
			alive := fmt.Sprint(p.Alive())
			for _, pid := range named(n) {
				if !strings.Contains(alive, strconv.Itoa(pid)) {
					t.Errorf("%d is not in Alive, which is %v", pid, alive)
				}
			}
			p.Kill()
			if left := named(n); len(left) != 0 {
				t.Errorf("left running: %v", left)
			}
			within(t, "gone", p.Gone())
			if zombies := children(t); len(zombies) != 0 {
				t.Errorf("not reaped: %v", zombies)
			}
		})
	}
}

// children lists what is left of our children. Those of the companions that
// other tests play, which we adopt as well, are left out.
func children(t *testing.T) []int {
	t.Helper()
	table, err := snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, e := range table {
		if e.ppid == os.Getpid() && runOf(e.mark) == thisRun() {
			out = append(out, e.pid)
		}
	}
	return out
}

// What one child left behind must not be taken for another's, nor a process
// of another package for anybody's.
func TestEscapesAreAttributed(t *testing.T) {
	first, second, third := nap()+"1", nap()+"2", nap()+"3"
	a := sh(t, "setsid -f sleep "+first, Options{})
	b := sh(t, "setsid -f sleep "+second, Options{})
	stranger := exec.Command("setsid", "-f", "sleep", third)
	if err := stranger.Run(); err != nil {
		t.Fatal(err)
	}
	<-a.Done()
	<-b.Done()
	until(t, "all run", func() bool { return len(named(first)) == 1 && len(named(second)) == 1 && len(named(third)) == 1 })
	a.Kill()
	if len(named(first)) != 0 || len(named(second)) != 1 || len(named(third)) != 1 {
		t.Errorf("after killing the first: %v %v %v", named(first), named(second), named(third))
	}
	b.Kill()
	if len(named(second)) != 0 || len(named(third)) != 1 {
		t.Errorf("after killing the second: %v %v", named(second), named(third))
	}
	for _, pid := range named(third) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
	}
}

// The subreaper must leave children of other packages to those who wait.
func TestSubreaperStealsNothing(t *testing.T) {
	for range 20 {
		cmd := exec.Command("sh", "-c", "exit 3")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p := sh(t, "setsid -f true", Options{})
		<-p.Done()
		time.Sleep(20 * time.Millisecond)
		err := cmd.Wait()
		if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 3 {
			t.Fatalf("Wait = %v, want exit status 3", err)
		}
	}
	until(t, "orphans reaped", func() bool { return len(children(t)) == 0 })
}

func TestForkStorm(t *testing.T) {
	n := nap()
	p := sh(t, "while :; do sleep "+n+" & done", Options{})
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	p.Kill()
	if took := time.Since(began); took > patience {
		t.Errorf("took %v", took)
	}
	if left := named(n); len(left) != 0 {
		t.Errorf("%d left", len(left))
	}
}

// A storm that leaves the session with every child.
func TestForkStormInManySessions(t *testing.T) {
	n := nap()
	p := sh(t, "f() { setsid -f sleep "+n+"; }; i=0; while [ $i -lt 300 ]; do f & i=$((i+1)); done; while :; do f; done", Options{})
	time.Sleep(300 * time.Millisecond)
	p.Kill()
	time.Sleep(50 * time.Millisecond)
	if left := named(n); len(left) != 0 {
		t.Errorf("%d left", len(left))
	}
}

// A bomb doubles itself; no loop over its members keeps up with it.
func TestForkBomb(t *testing.T) {
	if os.Getenv("ZEROCLAW_LONG") == "" {
		t.Skip("set ZEROCLAW_LONG=1: where bounding fails, this fills the process table of the machine")
	}
	n := nap()
	p := sh(t, "f() { sleep "+n+" & f | f & }; f", Options{MaxProcesses: 100})
	within(t, "killed", p.Gone())
	if !p.TooMany() {
		t.Error("nobody saw that there were too many")
	}
	if left := named(n); len(left) != 0 {
		t.Errorf("%d left", len(left))
	}
}

func TestMaxProcesses(t *testing.T) {
	n := nap()
	p := sh(t, "while :; do sleep "+n+" & done", Options{MaxProcesses: 100})
	within(t, "killed", p.Gone())
	if !p.TooMany() || !p.Killed() {
		t.Errorf("TooMany = %v, Killed = %v", p.TooMany(), p.Killed())
	}
	if left := named(n); len(left) != 0 {
		t.Errorf("%d left", len(left))
	}
	few := sh(t, "sleep 0.5", Options{MaxProcesses: 100})
	if s, _ := few.Wait(); few.TooMany() || s.ExitCode != 0 {
		t.Errorf("one process: %+v, TooMany = %v", s, few.TooMany())
	}
}
