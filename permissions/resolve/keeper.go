package resolve

import (
	"slices"
	"sync"
)

// maxKept is how many Resolvers a Keeper keeps: a companion judges under few
// roots at a time.
const maxKept = 8

// Keeper makes Resolvers for whoever needs one for a moment only, and keeps the
// last ones, because what a Resolver has seen of the state folder is worth more
// than the Resolver. Its zero value is empty and ready.
type Keeper struct {
	mu   sync.Mutex
	kept []*Resolver // last used first
}

// New is New of the package, but returns a Resolver made earlier when c still
// resolves to the same folders. Every call gives the same Pids and Now.
func (k *Keeper) New(c Config) (*Resolver, error) {
	r, err := New(c)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.kept, r.same); i >= 0 {
		r = k.kept[i]
		k.kept = slices.Delete(k.kept, i, i+1)
	}
	k.kept = slices.Insert(k.kept, 0, r)
	k.kept = k.kept[:min(len(k.kept), maxKept)]
	return r, nil
}

// same reports whether two Resolvers hang paths from the same folders.
func (r *Resolver) same(o *Resolver) bool {
	return r.root == o.root && r.home == o.home && r.homeReal == o.homeReal && r.space == o.space &&
		r.own.given == o.own.given && slices.Equal(r.own.workspace, o.own.workspace)
}
