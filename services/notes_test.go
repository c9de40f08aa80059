package services

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Only what a list of tools is made from raises the generation, and each rise
// is told.
func TestGeneration(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		r.state(t, "x", Stopped)
		s, _ := r.find("x")
		told := func() (n int) {
			time.Sleep(time.Second)
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, e := range r.evts {
				if e.Kind == EventTools || e.Kind == EventGone {
					n++
				}
			}
			r.evts = nil
			return n
		}
		told()
		step := func(name string, rises bool, f func()) {
			t.Helper()
			before := r.Generation()
			f()
			synctest.Wait()
			if rose := r.Generation() != before; rose != rises {
				t.Errorf("%s: rises %t, want %t", name, rose, rises)
			}
			if n := told(); n > 0 != rises {
				t.Errorf("%s: told %d times", name, n)
			}
		}
		// A state alone, without any tools: a call would start it, then not.
		step("a person's stop at rest", true, func() { _ = r.Stop(t.Context(), "x") })
		step("the same again", false, func() { _ = r.Stop(t.Context(), "x") })
		step("start", true, func() { _ = r.Start("x") })
		p := r.fake.last()
		step("probe", false, func() { s.probe(t.Context(), p) })
		step("failed probe", false, func() {
			p.mu.Lock()
			p.ping = errors.New("no answer")
			p.mu.Unlock()
			s.probe(t.Context(), p)
		})
		step("log and notice", false, func() {
			p.hooks.Log("stderr", "line")
			p.hooks.Notice("remark")
		})
		step("progress text", false, func() { s.edit(func() { s.reason = "fetching" }) })
		step("call", false, func() { _ = r.call(t.Context()) })
		step("the same tools", false, func() { p.hooks.ToolsChanged(); time.Sleep(time.Second) })
		step("other tools of the same number", true, func() {
			p.offer(ToolDef{Name: "other"})
			p.hooks.ToolsChanged()
			time.Sleep(time.Second)
		})
		step("stop", true, func() { _ = r.Stop(t.Context(), "x") })
		step("new server", true, func() { r.Set([]Spec{server("x"), server("y")}) })
		step("gone", true, func() { r.Set([]Spec{server("x")}) })
	})
}

// Statuses does not read the folders.
func TestStatusesDoNotScan(t *testing.T) {
	scans := 0
	v, err := New(Config{Connector: &fakeConnector{}, Scan: func() []Spec { scans++; return []Spec{folderService("f")} }})
	if err != nil {
		t.Fatal(err)
	}
	v.Set(nil)
	before := scans
	if got := v.Statuses(); len(got) != 1 || scans != before {
		t.Errorf("%d statuses, %d scans", len(got), scans-before)
	}
	if got := v.List(); len(got) != 1 || scans != before+1 {
		t.Errorf("%d statuses, %d scans", len(got), scans-before)
	}
}
