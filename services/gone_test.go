package services

import (
	"testing"
	"testing/synctest"
	"time"
)

// The removal of a running server is the last that is told of it, however long
// its ending takes and whatever it still says; the next one of that name is
// told from its beginning.
func TestNothingIsToldAfterGone(t *testing.T) {
	for _, tt := range []struct {
		name string
		back bool
	}{{"removed", false}, {"removed and back", true}} {
		t.Run(tt.name, func(t *testing.T) {
			fake := &fakeConnector{closing: 2 * time.Second}
			bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
				_ = r.Start("x")
				r.state(t, "x", Running)
				old := fake.last()
				time.Sleep(time.Second)
				r.Set(nil)
				time.Sleep(time.Second)
				old.hooks.Log("stderr", "going")
				old.hooks.Notice("going")
				if tt.back {
					r.Set([]Spec{server("x")})
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if fake.open != 0 {
					t.Errorf("%d connections are left", fake.open)
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				gone := -1
				for i, e := range r.evts {
					if e.Kind == EventGone {
						gone = i
					}
				}
				if gone < 0 {
					t.Fatal("the removal was not told")
				}
				after := r.evts[gone+1:]
				if !tt.back && len(after) > 0 {
					t.Errorf("after its removal: %+v", after)
				}
				if tt.back && (len(after) != 2 || after[0].Kind != EventState || after[0].Status.State != Stopped || after[1].Kind != EventTools) {
					t.Errorf("after its return: %+v, want one stopped server and the tools", after)
				}
			})
		})
	}
}
