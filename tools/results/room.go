package results

import "sync"

// room is memory that is shared by those who work in it at one time: who finds
// too little waits, the first comer first.
type room struct {
	size int64

	mu      sync.Mutex
	free    int64
	waiting []*place
}

type place struct {
	need  int64
	ready chan struct{}
}

func newRoom(size int64) *room { return &room{size: size, free: size} }

// take waits for n bytes and returns what gives them back. Who needs more than
// there is gets all of it.
func (r *room) take(n int64) (release func()) {
	p := &place{min(n, r.size), make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, p)
	r.admit()
	r.mu.Unlock()
	<-p.ready
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.free += p.need
		r.admit()
	}
}

// admit lets in who is first as long as there is room. Called with mu held.
func (r *room) admit() {
	for len(r.waiting) > 0 && r.waiting[0].need <= r.free {
		r.free -= r.waiting[0].need
		close(r.waiting[0].ready)
		r.waiting = r.waiting[1:]
	}
}
