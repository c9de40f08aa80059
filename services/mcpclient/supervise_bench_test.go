package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"zeroclaw/services"
)

// direct is the least that it takes to start a server and list its tools.
func direct(tb testing.TB, spec services.Spec) (took time.Duration) {
	tb.Helper()
	began := time.Now()
	cmd := exec.Command(spec.Command, spec.Args...)
	cmd.Env = append(os.Environ(), spec.Env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewReaderSize(out, 64<<10)
	ask := func(request string) {
		if _, err := fmt.Fprintln(in, request); err != nil {
			tb.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		var answer struct{ Result json.RawMessage }
		if err != nil || json.Unmarshal(line, &answer) != nil || answer.Result == nil {
			tb.Fatalf("%s was answered %s, %v", request, line, err)
		}
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
	took = time.Since(began)
	in.Close()
	if err := cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
	return took
}

// supervised starts and stops a server as a person does.
func supervised(tb testing.TB, v *services.Supervisor, changed <-chan struct{}, name string) (start, stop time.Duration) {
	tb.Helper()
	began := time.Now()
	if err := v.Start(name); err != nil {
		tb.Fatal(err)
	}
	for {
		st, err := v.Status(name)
		if err != nil || st.State == services.Failed {
			tb.Fatalf("%s is %s (%s), %v", name, st.State, st.Reason, err)
		}
		if st.State == services.Running {
			break
		}
		select {
		case <-changed:
		case <-time.After(500 * time.Microsecond): // events are put together
		}
	}
	start, began = time.Since(began), time.Now()
	if err := v.Stop(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	return start, time.Since(began)
}

func benchSupervisor(tb testing.TB, specs ...services.Spec) (*services.Supervisor, <-chan struct{}) {
	changed := make(chan struct{}, 1)
	v, err := services.New(services.Config{Connector: New(testConfig()), Notify: func(services.Event) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		tb.Fatal(err)
	}
	v.Set(specs)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- v.Serve(ctx) }()
	tb.Cleanup(func() { cancel(); <-done })
	return v, changed
}

func benchSpec(tb testing.TB) services.Spec {
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return services.Spec{Name: "x", Origin: services.OriginServer, Command: self, Env: []string{peerEnv + "=plain"}, Dir: tb.TempDir()}
}

// BenchmarkSpawnToListed prints how much longer a server takes from its start
// to its tools being listed than with the least code in the same run, and how
// long the stop of one takes that ends when its input does.
func BenchmarkSpawnToListed(b *testing.B) {
	spec := benchSpec(b)
	v, changed := benchSupervisor(b, spec)
	supervised(b, v, changed, "x") // its era is known afterwards, as it is to every later run
	var bare, starts, stops time.Duration
	n := 0
	for b.Loop() {
		bare += direct(b, spec)
		start, stop := supervised(b, v, changed, "x")
		starts, stops, n = starts+start, stops+stop, n+1
	}
	b.ReportMetric(float64(starts)/float64(bare), "×direct")
	b.ReportMetric(float64(stops.Microseconds())/1000/float64(n), "ms/stop")
}
