package localserver

import (
	"context"
	"runtime/debug"
	"time"
)

// quiet is how long nothing big may have happened before memory is given back.
const quiet = 500 * time.Millisecond

// dropEvery is the least time between two times that the program's file is
// dropped, of which a little comes back each time.
const dropEvery = time.Minute

// spare gives memory back to the system that only something that is over
// needed: the start, servers that came up, a big result. The companion idles
// for most of its life.
type spare struct{ stirred chan struct{} }

func newSpare() spare { return spare{make(chan struct{}, 1)} }

// stir says that something big has just happened.
func (s spare) stir() {
	select {
	case s.stirred <- struct{}{}:
	default:
	}
}

// serve gives back after the start, and each time that it has become quiet.
func (s spare) serve(ctx context.Context) {
	t := time.NewTimer(quiet)
	defer t.Stop()
	var dropped time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.stirred:
			t.Reset(quiet)
		case <-t.C:
			debug.FreeOSMemory()
			if time.Since(dropped) > dropEvery {
				dropMapped()
				dropped = time.Now()
			}
		}
	}
}
