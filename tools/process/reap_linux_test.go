package process

import (
	"os/exec"
	"sync"
	"testing"
	"time"
)

// TestShortChildIsItsOwn: a child that ends while it is being noted is left to
// the goroutine that started it, however often others look for zombies.
func TestShortChildIsItsOwn(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if table, err := snapshot(); err == nil {
				reapAdopted(table, nil, time.Now())
			}
		}
	})
	defer looking.Wait()
	defer close(stop)
	for range 200 {
		p, err := Start(program, []string{program}, Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || state.ExitCode != 0 {
			t.Fatalf("ended %+v, %v", state, err)
		}
	}
}
