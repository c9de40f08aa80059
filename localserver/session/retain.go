package session

import (
	"container/list"
	"sync"

	"zeroclaw/tools"
)

// maxRetained bounds what the results and arguments of ended calls take up in
// memory, in bytes, over all sessions. The call that ended last is always kept
// whole, and so is one whose caller waits for it.
const maxRetained = 24 << 20

// retained keeps the newest ended calls whole and takes the content of the
// older ones away. Its zero value is ready.
type retained struct {
	mu    sync.Mutex
	bytes int
	calls list.List // of entries, the call that ended last at the back
	at    map[*call]*list.Element
}

type entry struct {
	call *call
	size int
}

// add counts a call that has ended and strips those for which there is no
// room. No session may be locked.
func (r *retained) add(c *call, size int) {
	for _, old := range r.surplus(c, size) {
		old.strip()
	}
}

func (r *retained) surplus(c *call, size int) (old []*call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at = map[*call]*list.Element{}
	}
	r.bytes += size
	r.at[c] = r.calls.PushBack(entry{c, size})
	for e := r.calls.Front(); r.bytes > maxRetained && e != nil; {
		next := e.Next()
		if one := e.Value.(entry).call; one != c && one.waiting.Load() == 0 {
			old = append(old, one)
			r.remove(e)
		}
		e = next
	}
	return old
}

// forget stops counting a call that its session drops.
func (r *retained) forget(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.at[c]; ok {
		r.remove(e)
	}
}

func (r *retained) remove(e *list.Element) {
	one := r.calls.Remove(e).(entry)
	r.bytes -= one.size
	delete(r.at, one.call)
}

// end takes over how the call ended. Only the first report counts.
func (c *call) end(o tools.Outcome) {
	c.session.mu.Lock()
	if c.out.Status.Ended() {
		c.session.mu.Unlock()
		return
	}
	if o.Status.Ended() {
		c.session.running--
	}
	c.out, c.undo, c.output = o, undoOf(o), output{}
	size := o.Size() + len(c.Arguments)
	c.session.mu.Unlock()
	c.session.host.touch(c.Session)
	if !c.direct {
		c.session.host.kept.add(c, size)
	}
}

// strip takes away what makes the call big.
func (c *call) strip() {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.out, c.Arguments = withoutContent(c.out), nil
}

// withoutContent is an outcome that says how a call ended, but not with what.
func withoutContent(o tools.Outcome) tools.Outcome {
	o.Content, o.Structured, o.ModelText, o.Whole, o.Partial = nil, nil, "", nil, true
	return o
}
