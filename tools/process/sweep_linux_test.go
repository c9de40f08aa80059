package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// kill -9 of the companion, then a sweep by the next one.
func TestSweep(t *testing.T) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			n := nap()
			ledger := filepath.Join(t.TempDir(), "children.json")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PROCESS_TEST_COMPANION="+ledger,
				"PROCESS_TEST_SCRIPT="+strings.ReplaceAll(e.script, "NAP", n))
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if line != "up\n" {
				t.Fatalf("companion said %q, %v", line, err)
			}
			until(t, "running", func() bool { return len(named(n)) > 0 })

			l, err := OpenLedger(ledger)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Sweep(); err == nil || !strings.Contains(err.Error(), "still runs") {
				t.Errorf("Sweep beside a running companion = %v, want a refusal", err)
			}
			_ = cmd.Process.Kill()
			if l, err = OpenLedger(ledger); err != nil {
				t.Fatal(err)
			}
			until(t, "companion dead", func() bool {
				now, ok := entryOf(cmd.Process.Pid)
				return !ok || now.zombie
			})
			if _, err := l.Sweep(); err != nil {
				t.Errorf("Sweep: %v", err)
			}
			if left := named(n); len(left) != 0 {
				t.Errorf("left running: %v", left)
				for _, pid := range left {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			_ = cmd.Wait()
			if killed, err := l.Sweep(); killed != 0 || err != nil {
				t.Errorf("second Sweep = %d, %v", killed, err)
			}
		})
	}
}

// The direct child goes with the companion, without any sweep.
func TestParentDeath(t *testing.T) {
	n := nap()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROCESS_TEST_COMPANION="+filepath.Join(t.TempDir(), "l"),
		"PROCESS_TEST_SCRIPT=echo up; exec sleep "+n)
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(stdout).ReadString('\n')
	until(t, "running", func() bool { return len(named(n)) == 1 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	until(t, "child dead", func() bool { return len(named(n)) == 0 })
}

func TestLedgerFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "children.json")
	l, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	p := sh(t, "exec sleep 300", Options{Ledger: l})
	b, _ := os.ReadFile(path)
	if !strings.Contains(string(b), fmt.Sprintf(`{"pid":%d,"start":%d,"mark":%d}`, p.pid, p.start, p.mark)) {
		t.Errorf("ledger = %s", b)
	}
	p.Kill()
	within(t, "gone", p.Gone())
	if b, _ = os.ReadFile(path); !strings.Contains(string(b), `"children":[]`) {
		t.Errorf("ledger after the end = %s", b)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err = OpenLedger(path); err != nil {
		t.Fatalf("damaged ledger: %v", err)
	}
	if _, err := l.Sweep(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("Sweep of a damaged ledger = %v", err)
	}
	if _, err := OpenLedger(filepath.Join(t.TempDir(), "no", "folder")); err == nil {
		t.Error("a ledger in a missing folder opened")
	}
}
