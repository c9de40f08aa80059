package mcpclient

import (
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"zeroclaw/services"
)

// A server that takes seconds to start shows its tools at once in the next run,
// before it is even started, and the first call waits for it.
func TestToolsOfASlowServerAreThereAtOnce(t *testing.T) {
	t.Parallel()
	file := services.FileCache{Path: filepath.Join(t.TempDir(), "catalogue.json")}
	spec := peerSpec(t, "slow", "slowstart")
	first, err := services.New(services.Config{Connector: New(testConfig()), Cache: file})
	if err != nil {
		t.Fatal(err)
	}
	end := running(t, first, spec)
	first.Want("slow")
	waitState(t, first, "slow", services.Running)
	want := first.Tools("slow")
	if len(want) == 0 {
		t.Fatal("no tools")
	}
	end() // what is remembered is written by then

	began := time.Now()
	v := serve(t, services.Config{Cache: file}, spec)
	v.Want("slow")
	got := v.Tools("slow")
	took := time.Since(began)
	if !slices.EqualFunc(got, want, func(a, b services.ToolDef) bool { return a.Hash == b.Hash && a.Name == b.Name }) {
		t.Errorf("%d tools at once, want the %d from before", len(got), len(want))
	}
	if took > 1500*time.Millisecond {
		t.Errorf("they were there after %s", took)
	}
	if st, _ := v.Status("slow"); st.State != services.Starting || st.ToolsFrom != services.ToolsRemembered || st.Tools != len(want) {
		t.Errorf("status = %+v", st)
	}
	if _, err := v.Call(t.Context(), services.ToolCall{Server: "slow", Tool: "echo"}); err != nil {
		t.Error(err)
	}
	if st := waitState(t, v, "slow", services.Running); st.ToolsFrom != services.ToolsLive || st.HandshakeMS < 2000 {
		t.Errorf("status = %+v", st)
	}
	if got := v.Discoveries("slow"); len(got) != 1 || got[0].Trigger != services.TriggerStart {
		t.Errorf("the same list was recorded again: %+v", got)
	}
}

// One that obeys is gone within 50 ms of its stop.
func TestStopOfAServerThatObeysIsQuick(t *testing.T) {
	if raced {
		t.Skip("the race detector lets each child sleep a second before it ends")
	}
	v, changed := benchSupervisor(t, benchSpec(t))
	var stops []time.Duration
	for range 7 {
		_, stop := supervised(t, v, changed, "x")
		stops = append(stops, stop)
	}
	sort.Slice(stops, func(i, j int) bool { return stops[i] < stops[j] })
	// The median, for a machine that is busy with other things.
	if stops[3] > slowdown*50*time.Millisecond {
		t.Errorf("stops took %v", stops)
	}
}
