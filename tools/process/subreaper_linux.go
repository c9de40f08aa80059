package process

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// strangerDelay is how long an adopted zombie without our mark is left alone:
// long enough for any package that started it itself to wait for it.
const strangerDelay = 30 * time.Second

var subreaper = sync.OnceValue(func() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphaned children (prctl): %w", err)
	}
	go reapForever()
	return nil
})

// Subreaper makes this program the parent of every descendant whose own parent
// has ended, and reaps those that end. It lasts, like the goroutine that reaps, until the program
// ends; further calls do nothing. Elsewhere than on Linux it does nothing.
func Subreaper() error { return subreaper() }

func reapForever() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	strangers := make(map[kin]time.Time)
	for {
		if len(strangers) == 0 {
			<-ended
		} else {
			t := time.NewTimer(strangerDelay)
			select {
			case <-ended:
			case <-t.C:
			}
			t.Stop()
		}
		// Whoever started it may be about to wait, and many may end together.
		time.Sleep(200 * time.Millisecond)
		table, err := snapshot()
		if err != nil {
			continue
		}
		strangers = reapAdopted(table, strangers, time.Now())
	}
}

// reapAdopted reaps zombies that carry a mark of this run, and others of a
// foreign session that have been seen for strangerDelay. It returns the ones
// that are still waited with. A zombie of our own session was started by
// another package of this program, and is never taken from it.
func reapAdopted(table []entry, seen map[kin]time.Time, now time.Time) map[kin]time.Time {
	waiting := make(map[kin]time.Time)
	self, session := os.Getpid(), ownSession()
	var take []entry
	for _, e := range table {
		if !e.zombie || e.ppid != self || e.sid == session {
			continue
		}
		if _, ours := direct.Load(e.pid); ours {
			continue
		}
		since, known := seen[e.kin]
		switch {
		case runOf(e.mark) == thisRun(), known && now.Sub(since) >= strangerDelay:
			take = append(take, e)
		case known:
			waiting[e.kin] = since
		default:
			waiting[e.kin] = now
		}
	}
	reap(take)
	return waiting
}
