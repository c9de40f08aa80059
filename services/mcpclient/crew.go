package mcpclient

import "sync"

// crew are the goroutines that one owner waits for. The zero value works.
type crew struct {
	mu   sync.Mutex
	done bool // no more are taken
	wg   sync.WaitGroup
}

// Go runs f in a goroutine of the crew. It reports false, and runs nothing, once
// Wait was called.
func (c *crew) Go(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	c.wg.Go(f)
	return true
}

// Wait returns when all have ended.
func (c *crew) Wait() {
	c.mu.Lock()
	c.done = true
	c.mu.Unlock()
	c.wg.Wait()
}
