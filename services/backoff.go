package services

import "time"

// Backoff is the restart policy; zero fields take the values in brackets.
type Backoff struct {
	First   time.Duration // before the first restart (1 s); doubled each time
	Max     time.Duration // the longest wait (60 s)
	Limit   int           // crashes within Window after which it is given up (5)
	Window  time.Duration // (10 min)
	Reprobe time.Duration // between attempts after giving up, as long as the server is wanted (5 min)
}

func (b Backoff) withDefaults() Backoff {
	b.First = orDefault(b.First, time.Second)
	b.Max = orDefault(b.Max, time.Minute)
	b.Window = orDefault(b.Window, 10*time.Minute)
	b.Reprobe = orDefault(b.Reprobe, 5*time.Minute)
	if b.Limit == 0 {
		b.Limit = 5
	}
	return b
}

// next takes the times of earlier crashes and that of a new one. It returns the
// ones that still count, how long to wait, and whether to give up (then wait is
// the time to the slow re-probe).
func (b Backoff) next(crashes []time.Time, now time.Time) (kept []time.Time, wait time.Duration, giveUp bool) {
	for _, t := range append(crashes, now) {
		if now.Sub(t) < b.Window {
			kept = append(kept, t)
		}
	}
	// More of them than the limit decide nothing.
	if extra := len(kept) - b.Limit; extra > 0 {
		kept = kept[extra:]
	}
	if len(kept) >= b.Limit {
		return kept, b.Reprobe, true
	}
	wait = b.First
	for i := 1; i < len(kept) && wait < b.Max; i++ {
		wait *= 2
	}
	return kept, min(wait, b.Max), false
}
