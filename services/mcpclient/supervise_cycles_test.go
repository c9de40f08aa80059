package mcpclient

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/services"
)

// markEnv is inherited by everything that a peer starts.
const markEnv = "TEST_MCP_MARK"

// thisRun tells apart runs of this package at the same time, also those that
// see each other's processes without sharing the numbers.
var thisRun = fmt.Sprintf("%d.%d", os.Getpid(), time.Now().UnixNano())

// mark is the mark of one server of this very test run.
func mark(name string) string { return fmt.Sprintf("%s=%s of %s", markEnv, name, thisRun) }

// marked are the processes that run with the mark in their environment.
func marked(t *testing.T, name string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(env), mark(name)+"\x00") {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// Cycles of start and stop over servers that fork, escape, die, flood and resist
// leave no process when Stop returns. ZEROCLAW_LONG=1 runs 1,000 of them.
func TestCyclesLeaveNothing(t *testing.T) {
	t.Parallel()
	cycles := int64(200)
	if os.Getenv("ZEROCLAW_LONG") != "" {
		cycles = 1000
	}
	if raced || testing.Short() {
		cycles = 60
	}
	type kind struct {
		name  string
		crash bool  // it dies in a call before it is stopped
		most  int64 // cycles of those that take seconds to end; 0 = any
	}
	kinds := []kind{{"plain", false, 0}, {"plain", true, 0}, {"banner", false, 0}, {"fork", false, 0}, {"fork", true, 0}, {"stderr", false, cycles / 10},
		{"term", false, cycles / 100}, {"eof", false, cycles / 50}, {"exit3", false, 0}, {"hang", false, cycles / 20}}
	if runtime.GOOS == "linux" {
		kinds = append(kinds, kind{"setsid", false, 0}, kind{"setsid", true, 0})
	}
	var specs []services.Spec
	for i, k := range kinds {
		s := peerSpec(t, fmt.Sprint(k.name, i), k.name)
		s.Env = append(s.Env, mark(s.Name))
		specs = append(specs, s)
	}
	v := serve(t, services.Config{Backoff: services.Backoff{First: time.Hour}}, specs...)
	var left atomic.Int64
	left.Store(cycles)
	began := time.Now()
	busy := make(chan struct{}, 3) // cycles at a time of those that compute rather than wait
	var workers sync.WaitGroup
	for i, k := range kinds {
		name := specs[i].Name
		workers.Go(func() {
			n := int64(0)
			for ; (k.most == 0 || n < k.most) && left.Add(-1) >= 0 && !t.Failed(); n++ {
				if k.most == 0 {
					busy <- struct{}{}
				}
				cycle(t, v, name, k.name, k.crash)
				if k.most == 0 {
					<-busy
				}
			}
			t.Logf("%s: %d cycles in %s", name, n, time.Since(began).Round(time.Millisecond))
		})
	}
	workers.Wait()
}

func cycle(t *testing.T, v *services.Supervisor, name, kind string, crash bool) {
	if err := v.Start(name); err != nil {
		t.Error(err)
		return
	}
	pid, end := 0, time.Now().Add(slowdown*20*time.Second)
	for time.Now().Before(end) {
		st, _ := v.Status(name)
		if pid = max(pid, st.Pid); st.State == services.Running || kind == "hang" && pid > 0 || kind == "exit3" && st.Reason != "" {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if crash {
		if _, err := v.Call(t.Context(), services.ToolCall{Server: name, Tool: "crash"}); err == nil {
			t.Errorf("%s: crash answered", name)
		}
	}
	if err := v.Stop(t.Context(), name); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if runtime.GOOS == "linux" {
		if pids := marked(t, name); len(pids) > 0 {
			t.Errorf("%s: processes %v are there after Stop", name, pids)
		}
	} else if pid > 0 {
		gone(t, pid)
	}
	if st, _ := v.Status(name); st.State != services.Stopped {
		t.Errorf("%s is %s after Stop", name, st.State)
	}
}
