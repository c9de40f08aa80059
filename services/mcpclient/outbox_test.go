package mcpclient

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// narrow is a pipe of few bytes, which TryWrite finds full now and then.
type narrow struct {
	mu     sync.Mutex
	tries  int
	waited int
	got    bytes.Buffer
}

func (n *narrow) TryWrite(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tries++
	k := min(len(b), n.tries%len("0123456789"))
	return n.got.Write(b[:k])
}

func (n *narrow) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waited++
	return n.got.Write(b)
}

func (n *narrow) Close() error { return nil }

func (n *narrow) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.got.String()
}

// Whether a line is written by its sender, by the goroutine or half by each,
// lines come out whole, and those of one sender in their order.
func TestOutboxKeepsLinesWhole(t *testing.T) {
	to := &narrow{}
	o := newOutbox(to, time.Minute, func(err error) { t.Errorf("it failed: %v", err) })
	const senders, each = 8, 500
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				if err := o.send(fmt.Appendf(nil, "%d %d %s\n", s, i, strings.Repeat("x", i%7)), i%2 == 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for end := time.Now().Add(10 * time.Second); strings.Count(to.text(), "\n") < senders*each && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	o.Close()
	<-o.done
	next := map[int]int{}
	for line := range strings.Lines(to.text()) {
		var s, i int
		if _, err := fmt.Sscanf(line, "%d %d", &s, &i); err != nil || line != fmt.Sprintf("%d %d %s\n", s, i, strings.Repeat("x", i%7)) || next[s] != i {
			t.Fatalf("%q came when sender %d was at line %d: %v", line, s, next[s], err)
		}
		next[s]++
	}
	for s := range senders {
		if next[s] != each {
			t.Errorf("of sender %d came %d lines, want %d", s, next[s], each)
		}
	}
	if to.tries == 0 || to.waited == 0 {
		t.Errorf("%d tries and %d writes: the test tried only one way", to.tries, to.waited)
	}
}
