package services

import (
	"slices"
	"testing"
	"time"
)

// An answer and an event with statuses of one service can overtake each other.
func TestRevRises(t *testing.T) {
	fake := &fakeConnector{}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		seen := []uint64{r.state(t, "x", Stopped).Rev}
		next := func(st Status) { seen = append(seen, st.Rev) }
		_ = r.Start("x")
		next(r.state(t, "x", Running))
		if pids := r.Pids(); len(pids) != 1 {
			t.Errorf("Pids = %v while one server runs", pids)
		}
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		next(r.state(t, "x", Stopped))
		// Gone and back, as after a restart of the companion.
		time.Sleep(time.Second)
		r.Set(nil)
		r.Set([]Spec{server("x")})
		next(r.state(t, "x", Stopped))
		if !slices.IsSorted(seen) || len(slices.Compact(seen)) != 4 {
			t.Errorf("revisions %v do not rise", seen)
		}
		if seen[3] >= 1<<53 {
			t.Errorf("revision %d is no whole number of JavaScript", seen[3])
		}
	})
}
