package localserver

import (
	"context"
	"runtime/debug"
	"time"
)

// quiet is how long nothing big may have happened before memory is given back.
const quiet = 2 * time.Second

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
	t := time.NewTimer(quiet / 2)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.stirred:
			t.Reset(quiet)
		case <-t.C:
			debug.FreeOSMemory()
		}
	}
}
