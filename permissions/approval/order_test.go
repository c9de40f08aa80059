package approval

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// An answer may come before everybody was told of the question, from whoever
// looks at the list. Its end is told after its beginning all the same, or a
// page would show a question that is over.
func TestEndIsToldAfterTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		tell := func(what string) { mu.Lock(); defer mu.Unlock(); told = append(told, what) }
		b := newBroker(Config{
			Asked: func(q Question) { time.Sleep(time.Second); tell("asked " + q.ID) },
			Ended: func(r Resolution) { tell("ended " + r.Question.ID) },
		})
		b.SetPresent(1)
		got := make(chan Resolution, 1)
		go func() { got <- b.Ask(t.Context(), question()) }()
		synctest.Wait()
		if open := b.Open(); len(open) != 1 {
			t.Fatalf("%d questions are open, want 1", len(open))
		}
		if err := b.Resolve("q1", Answer{Decision: Once}); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.Answer.Decision != Once {
			t.Errorf("ended %+v", r)
		}
		if fmt.Sprint(told) != "[asked q1 ended q1]" {
			t.Errorf("told %q", told)
		}
	})
}
