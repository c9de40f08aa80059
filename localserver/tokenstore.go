package localserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"zeroclaw/localserver/guard"
	"zeroclaw/tools/atomicfile"
)

// tokensSaved is how often the last use of tokens is saved, at most. Expiry is
// looked at as often, so that a clock that was set counts soon.
const tokensSaved = time.Minute

// tokenIDLength keeps the public id short enough to type.
const tokenIDLength = 10

// tokenConfig configures a tokenStore. All of it is required.
type tokenConfig struct {
	path    string // of the file, which need not exist
	keys    *guard.Keyring
	rand    io.Reader
	now     func() time.Time
	changed func() // after every change, also of the last use; may not call the store
}

// errTokensUnreadable means that the file of named tokens is damaged.
var errTokensUnreadable = errors.New("the named tokens cannot be read")

// tokenStore keeps the tokens of other programs: on disk, and those that are
// valid in a Keyring.
type tokenStore struct {
	c      tokenConfig
	broken error         // why the file is left alone; never changes
	wake   chan struct{} // tells Serve that there is something to wait for

	saving sync.Mutex // held while the file is written, and around every change of what it says

	mu    sync.RWMutex
	list  []namedToken             // oldest first; LastUsed is that of the file
	used  map[string]*atomic.Int64 // by ID: Unix seconds of the last use, 0 for none
	fresh atomic.Bool              // a use is not saved yet
}

// openTokens reads the file and makes the tokens in it valid. Of a file that is
// damaged in any way none counts and nothing is ever written over it; the error
// says what is wrong with it.
func openTokens(c tokenConfig) (*tokenStore, error) {
	s := &tokenStore{c: c, wake: make(chan struct{}, 1), used: map[string]*atomic.Int64{}}
	list, err := readTokens(c.path)
	if err != nil {
		s.broken = fmt.Errorf("%w, so none of them opens anything: %w; repair %s, or move it away and make new tokens, then start the companion again", errTokensUnreadable, err, c.path)
		return s, s.broken
	}
	for _, n := range list {
		s.used[n.ID] = &atomic.Int64{}
		if !n.LastUsed.IsZero() {
			s.used[n.ID].Store(n.LastUsed.Unix())
		}
		s.admit(n)
	}
	s.list = list
	return s, nil
}

// admit makes a token valid unless its time is up.
func (s *tokenStore) admit(n namedToken) {
	if h, err := n.hash(); err == nil && !n.expired(s.c.now()) {
		s.c.keys.AddHash(h, guard.TokenInfo{ID: n.ID, Kind: guard.Named, Name: n.Name, Agent: n.Agent})
	}
}

// Find is made for guard.Config.Token: whose token it is, unless its time is up.
// The use of a named token is noted and saved later.
func (s *tokenStore) Find(presented string) (guard.TokenInfo, bool) {
	info, ok := s.c.keys.Find(presented)
	if !ok || info.Kind != guard.Named {
		return info, ok
	}
	if !s.use(info.ID) {
		return guard.TokenInfo{}, false
	}
	return info, true
}

func (s *tokenStore) use(id string) bool {
	now := s.c.now()
	s.mu.RLock()
	at := s.index(id)
	ok := at >= 0 && !s.list[at].expired(now)
	if ok {
		s.used[id].Store(now.Unix())
	}
	s.mu.RUnlock()
	if !ok {
		// Other requests in its name end too.
		s.c.keys.Revoke(id)
		return false
	}
	if !s.fresh.Swap(true) {
		s.stir()
	}
	return true
}

// index finds a token; called with mu held.
func (s *tokenStore) index(id string) int {
	return slices.IndexFunc(s.list, func(n namedToken) bool { return n.ID == id })
}

func (s *tokenStore) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// List returns the tokens, oldest first. Of a damaged file there are none, and
// the error says so.
func (s *tokenStore) List() ([]namedToken, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.listLocked(), nil
}

// listLocked is the list with every last use in it.
func (s *tokenStore) listLocked() []namedToken {
	list := slices.Clone(s.list)
	for i := range list {
		if t := s.used[list[i].ID].Load(); t != 0 {
			list[i].LastUsed = time.Unix(t, 0).UTC()
		}
	}
	return list
}

// save writes list to the file. Called with saving held.
func (s *tokenStore) save(list []namedToken) error {
	if err := atomicfile.WriteJSON(s.c.path, map[string]any{"tokens": list}); err != nil {
		return fmt.Errorf("save the named tokens: %w", err)
	}
	return nil
}

// Errors of Create and Revoke that are the caller's.
var (
	errTokenLimit = fmt.Errorf("there are %d named tokens already; revoke one that is no longer used", maxTokens)
	errNoToken    = errors.New("there is no token of this id; it may have been revoked already")
)

// Create makes a token that is valid until expires; the zero time is for ever.
// It returns the token's text, which is nowhere else, and counts only once it is
// on disk. A name that cannot be is a *guard.FieldError.
func (s *tokenStore) Create(name, agent string, expires time.Time) (string, namedToken, error) {
	if s.broken != nil {
		return "", namedToken{}, s.broken
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.RLock()
	list := s.listLocked()
	s.mu.RUnlock()
	if err := checkTokenName(name, list); err != nil {
		return "", namedToken{}, &guard.FieldError{Field: "name", Message: err.Error()}
	}
	if len(list) >= maxTokens {
		return "", namedToken{}, errTokenLimit
	}
	token := tokenPrefix + newToken(s.c.rand)
	sum := sha256.Sum256([]byte(token))
	id := newID()[:tokenIDLength]
	for slices.ContainsFunc(list, func(o namedToken) bool { return o.ID == id }) {
		id = newID()[:tokenIDLength]
	}
	n := namedToken{ID: id, Name: name, Agent: agent, SHA256: hex.EncodeToString(sum[:]), Created: s.c.now().UTC().Truncate(time.Second)}
	if !expires.IsZero() {
		n.Expires = expires.UTC().Round(0) // a reading of the wall clock alone, as the file has it
	}
	list = append(list, n)
	if err := s.save(list); err != nil {
		return "", namedToken{}, err
	}
	s.mu.Lock()
	s.list = list
	s.used[n.ID] = &atomic.Int64{}
	s.mu.Unlock()
	s.admit(n)
	s.stir() // it may be the next to expire
	s.c.changed()
	return token, n, nil
}

// Revoke ends a token and whatever runs in its name, at once. Where that cannot
// be saved the token stays listed, to be revoked again: the next start would
// bring it back.
func (s *tokenStore) Revoke(id string) error {
	if s.broken != nil {
		return s.broken
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.RLock()
	list := s.listLocked()
	at := s.index(id)
	s.mu.RUnlock()
	if at < 0 {
		return errNoToken
	}
	s.c.keys.Revoke(id)
	list = slices.Delete(list, at, at+1)
	if err := s.save(list); err != nil {
		return fmt.Errorf("the token opens nothing until the companion ends, but its end is not on disk; revoke it again: %w", err)
	}
	s.mu.Lock()
	s.list = list
	delete(s.used, id)
	s.mu.Unlock()
	s.c.changed()
	return nil
}

// forGood is how long nothing is to be waited for.
const forGood = time.Duration(1<<63 - 1)
