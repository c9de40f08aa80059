package resolve

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// One look at a large state folder does not hold up every other verdict: they
// take what was seen last, unless that is too old, and then wait for the look.
func TestOneLooksAndTheOthersGoOn(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var passed atomic.Int64
	var hold atomic.Bool
	inside, release := make(chan struct{}), make(chan struct{})
	var asked atomic.Int64
	o := newOwnState(slashed(dir), "", "", func() time.Time {
		// The first reading of the clock is for the age, the second begins the look.
		if asked.Add(1) == 2 && hold.CompareAndSwap(true, false) {
			close(inside)
			<-release
		}
		return start.Add(time.Duration(passed.Load()))
	})
	first := o.look()
	passed.Store(int64(snapshotAge * 3 / 2))
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asked.Store(0)
	hold.Store(true)
	looked := make(chan *snapshot, 1)
	go func() { looked <- o.look() }()
	<-inside
	look := func() <-chan *snapshot {
		c := make(chan *snapshot, 1)
		go func() { c <- o.look() }()
		return c
	}
	select {
	case s := <-look():
		if s != first {
			t.Error("two look at the same time")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a verdict waits for somebody else's look at the disk")
	}
	passed.Store(int64(3 * snapshotAge))
	late := look()
	select {
	case <-late:
		t.Error("a snapshot that is too old was used")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	fresh := <-looked
	if fresh == first || len(fresh.files) != 1 {
		t.Errorf("the new look found %d files, want 1", len(fresh.files))
	}
	if <-late == first {
		t.Error("who waited got the old snapshot")
	}
}
