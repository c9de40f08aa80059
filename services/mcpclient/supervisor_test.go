package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/services"
)

// serve runs a Supervisor with the real Connector until the test ends.
func serve(t *testing.T, c services.Config, specs ...services.Spec) *services.Supervisor {
	t.Helper()
	c.Connector = New(testConfig())
	v, err := services.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running(t, v, specs...))
	return v
}

// running serves the servers until end is called.
func running(t *testing.T, v *services.Supervisor, specs ...services.Spec) (end func()) {
	v.Set(specs)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- v.Serve(ctx) }()
	return func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(slowdown * 15 * time.Second):
			t.Error("Serve does not end")
		}
	}
}

func waitState(t *testing.T, v *services.Supervisor, name string, want services.State) services.Status {
	t.Helper()
	var st services.Status
	for range slowdown * 1500 {
		st, _ = v.Status(name)
		if st.State == want {
			return st
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s is %s (%s), want %s", name, st.State, st.Reason, want)
	return st
}

func TestServiceFromStartToStop(t *testing.T) {
	t.Parallel()
	v := serve(t, services.Config{}, peerSpec(t, "good", "plain"))
	if err := v.Start("good"); err != nil {
		t.Fatal(err)
	}
	if st, _ := v.Status("good"); st.State != services.Starting {
		t.Errorf("right after Start the state is %s", st.State)
	}
	if err := v.Start("good"); err != nil {
		t.Errorf("the second start: %v", err)
	}
	// A call waits for a server that starts.
	res, err := v.Call(t.Context(), services.ToolCall{Server: "good", Tool: "echo", Args: json.RawMessage(`{"x":1}`)})
	if err != nil || !strings.Contains(string(res.Raw), `{\"x\":1}`) {
		t.Errorf("Call = %s, %v", res.Raw, err)
	}
	st := waitState(t, v, "good", services.Running)
	if st.Pid == 0 || st.Tools == 0 || st.Protocol != "2025-11-25" || st.ServerName != `peer\u202e` || len(v.Tools("good")) != st.Tools {
		t.Errorf("status = %+v", st)
	}
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "good", Tool: "invented"}); !errors.Is(err, services.ErrNoTool) {
		t.Errorf("an invented tool: %v", err)
	}
	if err := v.Stop(t.Context(), "good"); err != nil {
		t.Error(err)
	}
	gone(t, st.Pid)
	if st, _ := v.Status("good"); st.State != services.Stopped || st.Pid != 0 || st.Tools != 0 {
		t.Errorf("after Stop: %+v", st)
	}
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "good", Tool: "echo"}); !errors.Is(err, services.ErrNotRunning) {
		t.Errorf("a call of a stopped server: %v", err)
	}
}

func TestCrashRestartsAndKeepsOthersWorking(t *testing.T) {
	t.Parallel()
	v := serve(t, services.Config{Backoff: services.Backoff{First: 50 * time.Millisecond}}, peerSpec(t, "bad", "plain"), peerSpec(t, "good", "plain"))
	for _, name := range []string{"bad", "good"} {
		if err := v.Start(name); err != nil {
			t.Fatal(err)
		}
	}
	waitState(t, v, "good", services.Running)
	first := waitState(t, v, "bad", services.Running)
	_, err := v.Call(t.Context(), services.ToolCall{Server: "bad", Tool: "crash"})
	var exit *services.ExitError
	if !errors.As(err, &exit) || exit.Code != 7 || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("err = %v", err)
	}
	var st services.Status
	for range slowdown * 500 {
		if st, _ = v.Status("bad"); st.State == services.Running && st.Pid != first.Pid {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if st.Restarts != 1 || st.Pid == first.Pid {
		t.Errorf("after the crash: %+v", st)
	}
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "good", Tool: "echo"}); err != nil {
		t.Error(err)
	}
}

// Every hostile server beside a healthy one: the healthy one answers within a
// second, and each bad one is a state and a sentence.
func TestHealthyServerBesideHostileOnes(t *testing.T) {
	t.Parallel()
	kinds := []string{"exit3", "urandom", "hang", "noread", "stderr", "tools10000", "endless", "fork", "term", "nonewline", "twice"}
	specs := []services.Spec{peerSpec(t, "good", "plain")}
	for _, k := range kinds {
		s := peerSpec(t, k, k)
		if k == "hang" || k == "urandom" || k == "nonewline" {
			s.HandshakeTimeout = 2500 * time.Millisecond
		}
		specs = append(specs, s)
	}
	v := serve(t, services.Config{Backoff: services.Backoff{First: 20 * time.Millisecond}}, specs...)
	for _, s := range specs {
		if err := v.Start(s.Name); err != nil {
			t.Fatal(err)
		}
	}
	waitState(t, v, "good", services.Running)
	var slow time.Duration
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		began := time.Now()
		if _, err := v.Call(t.Context(), services.ToolCall{Server: "good", Tool: "echo"}); err != nil {
			t.Fatal(err)
		}
		slow = max(slow, time.Since(began))
	}
	if slow > slowdown*time.Second {
		t.Errorf("a call of the healthy server took %s", slow)
	}
	for _, name := range []string{"exit3", "urandom", "hang", "nonewline"} {
		if st := waitState(t, v, name, services.Failed); st.Reason == "" {
			t.Errorf("%s failed without a reason", name)
		}
	}
	if st, _ := v.Status("exit3"); !strings.Contains(st.Reason, "exit code 3") || !strings.Contains(st.Reason, "database") {
		t.Errorf("exit3: %q", st.Reason)
	}
	if st := waitState(t, v, "tools10000", services.Running); st.Tools != services.MaxTools || len(st.Notices) == 0 {
		t.Errorf("tools10000: %d tools, notices %q", st.Tools, st.Notices)
	}
	if st := waitState(t, v, "twice", services.Running); st.Tools != 2 || len(st.Notices) == 0 {
		t.Errorf("twice: %d tools, notices %q", st.Tools, st.Notices)
	}
}

func TestStopDuringHandshakeIsQuick(t *testing.T) {
	t.Parallel()
	v := serve(t, services.Config{}, peerSpec(t, "hang", "hang"))
	if err := v.Start("hang"); err != nil {
		t.Fatal(err)
	}
	var pid int
	for range slowdown * 200 {
		if st, _ := v.Status("hang"); st.Pid != 0 {
			pid = st.Pid
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	if err := v.Stop(t.Context(), "hang"); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > slowdown*3*time.Second {
		t.Errorf("Stop took %s", took)
	}
	gone(t, pid)
}

func TestHammeredStartAndStop(t *testing.T) {
	t.Parallel()
	v := serve(t, services.Config{}, peerSpec(t, "x", "plain"))
	var ops sync.WaitGroup
	for i := range 200 {
		ops.Go(func() {
			if i%2 == 0 {
				_ = v.Start("x")
			} else {
				_ = v.Stop(t.Context(), "x")
			}
		})
	}
	ops.Wait()
	if err := v.Start("x"); err != nil {
		t.Fatal(err)
	}
	st := waitState(t, v, "x", services.Running)
	if err := v.Stop(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	gone(t, st.Pid)
}

func TestTimeoutsAndProgress(t *testing.T) {
	t.Parallel()
	s := peerSpec(t, "x", "plain")
	s.CallTimeout = 3 * time.Second
	v := serve(t, services.Config{}, s)
	if err := v.Start("x"); err != nil {
		t.Fatal(err)
	}
	waitState(t, v, "x", services.Running)
	_, err := v.Call(t.Context(), services.ToolCall{Server: "x", Tool: "wait"})
	if !errors.Is(err, services.ErrTimeout) || !strings.Contains(err.Error(), "not known") {
		t.Errorf("wait: %v", err)
	}
	// 5.4 s in steps of 450 ms: progress keeps it alive.
	n := 0
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "x", Tool: "spin", Args: json.RawMessage(`{"MS":450}`), Progress: func(float64, float64, string) { n++ }}); err != nil || n == 0 {
		t.Errorf("spin: %v after %d reports", err, n)
	}
	s.MaxDuration = 3600 * time.Millisecond
	v.Set([]services.Spec{s})
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "x", Tool: "spin", Args: json.RawMessage(`{"MS":450}`)}); !errors.Is(err, services.ErrTimeout) {
		t.Errorf("spin with a cap: %v", err)
	}
}

func TestListChangedIsLive(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := 0
	v := serve(t, services.Config{Notify: func(e services.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == services.EventTools {
			told++
		}
	}}, peerSpec(t, "x", "plain"))
	if err := v.Start("x"); err != nil {
		t.Fatal(err)
	}
	before := waitState(t, v, "x", services.Running).Tools
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "x", Tool: "more"}); err != nil {
		t.Fatal(err)
	}
	for range slowdown * 300 {
		mu.Lock()
		n := told
		mu.Unlock()
		if len(v.Tools("x")) == before+1 && n >= 2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d tools, want %d; told %d times", len(v.Tools("x")), before+1, told)
}

func TestStopFailsCallsAtOnce(t *testing.T) {
	t.Parallel()
	v := serve(t, services.Config{}, peerSpec(t, "x", "term"))
	if err := v.Start("x"); err != nil {
		t.Fatal(err)
	}
	waitState(t, v, "x", services.Running)
	failed := make(chan error, 1)
	go func() {
		_, err := v.Call(context.Background(), services.ToolCall{Server: "x", Tool: "wait"})
		failed <- err
	}()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- v.Stop(context.Background(), "x") }()
	if err := <-failed; !errors.Is(err, services.ErrStopped) {
		t.Errorf("the call: %v", err)
	}
	if took := time.Since(began); took > slowdown*time.Second {
		t.Errorf("the call failed after %s", took)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestRedactionInLogAndReason(t *testing.T) {
	t.Parallel()
	v := serve(t, services.Config{Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret-value", "[redacted]") }}, peerSpec(t, "x", "sensitive"))
	if err := v.Start("x"); err != nil {
		t.Fatal(err)
	}
	waitState(t, v, "x", services.Running)
	lines, err := v.Logs("x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, l := range lines {
		if l.Seq != uint64(i+1) {
			t.Errorf("line %d has the number %d", i, l.Seq)
		}
		all = append(all, l.Stream+" "+l.Text)
	}
	got := strings.Join(all, "\n")
	if !strings.Contains(got, `stderr key is [redacted] \u202e\x07`) {
		t.Errorf("log = %s", strconv.Quote(got))
	}
}
