package services

import (
	"testing"
	"testing/synctest"
	"time"
)

// A server that starts is told at once, its tools right after; one that changes
// all the time is told every notePause.
func TestNotesPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began time.Time
		var told []time.Duration
		n := newNotes(func(Event) { told = append(told, time.Since(began)) })
		go n.serve(t.Context())
		s := &service{name: "one"}
		time.Sleep(time.Second)
		synctest.Wait()
		began = time.Now()
		n.mark(s, noteTools)
		time.Sleep(time.Millisecond)
		n.mark(s, noteTools)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(told) != 2 || told[0] != 0 || told[1] > 5*time.Millisecond {
			t.Errorf("two changes were told after %v, want at once and 2 ms later", told)
		}
		began, told = time.Now(), nil
		for range 10_000 {
			n.mark(s, noteTools)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if most := int(10*time.Second/notePause) + 10; len(told) > most || len(told) < most/2 {
			t.Errorf("10 s of changes were told %d times, want about %d", len(told), most)
		}
	})
}
