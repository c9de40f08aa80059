//go:build unix

package process

import (
	"testing"
	"time"
)

// A child that does not read makes nobody wait, and what it took counts once.
func TestTryWrite(t *testing.T) {
	p, err := Start("/bin/sleep", []string{"sleep", "60"}, Options{StdinPipe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); <-p.Done() }()
	in := p.Stdin().(interface {
		TryWrite([]byte) (int, error)
	})
	began, line, taken := time.Now(), make([]byte, 5000), 0
	for {
		n, err := in.TryWrite(line)
		if err != nil {
			t.Fatalf("after %d bytes: %v", taken, err)
		}
		if taken += n; n < len(line) {
			break
		}
	}
	if n, err := in.TryWrite(line); n != 0 || err != nil {
		t.Errorf("into a full pipe: %d, %v; want 0 and no error", n, err)
	}
	if taken == 0 || time.Since(began) > 10*time.Second {
		t.Errorf("%d bytes were taken in %s", taken, time.Since(began))
	}
	p.Stdin().Close()
	if n, err := in.TryWrite(line); n != 0 || err == nil {
		t.Errorf("into a closed pipe: %d, %v; want an error", n, err)
	}
}
