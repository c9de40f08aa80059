package guard

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"sync"
)

// MaxPages is how many tokens of pages are valid at a time. One more revokes
// the oldest: a browser that pairs again and again leaves no trail.
const MaxPages = 256

// Keyring is the set of tokens that are valid now. The zero value is empty and
// ready. Its Find is made for Config.Token.
type Keyring struct {
	mu   sync.RWMutex
	keys []key // oldest first
}

type key struct {
	hash   [sha256.Size]byte // what a presented token is compared with
	token  string            // what Prove answers with; "" of one that is known by its hash alone
	info   TokenInfo
	revoke context.CancelFunc // ends info.valid
}

// Add makes token valid for info. info.ID must be unique; an older entry with
// the same ID is revoked.
func (k *Keyring) Add(token string, info TokenInfo) {
	k.add(key{hash: sha256.Sum256([]byte(token)), token: token, info: info})
}

// AddHash is Add for a token of which only the SHA-256 is known. Prove does not
// answer for it.
func (k *Keyring) AddHash(hash [sha256.Size]byte, info TokenInfo) {
	k.add(key{hash: hash, info: info})
}

func (k *Keyring) add(n key) {
	n.info.valid, n.revoke = context.WithCancel(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.removeLocked(n.info.ID)
	k.keys = append(k.keys, n)
	pages, oldest := 0, ""
	for _, e := range k.keys {
		if e.info.Kind == Page {
			if pages++; pages == 1 {
				oldest = e.info.ID
			}
		}
	}
	if pages > MaxPages {
		k.removeLocked(oldest)
	}
}

// Revoke makes the token with that ID invalid and reports whether there was
// one. The context of every request that came with it ends: an event stream
// breaks off.
func (k *Keyring) Revoke(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.removeLocked(id)
}

func (k *Keyring) removeLocked(id string) bool {
	for i := range k.keys {
		if k.keys[i].info.ID == id {
			k.keys[i].revoke()
			k.keys = slices.Delete(k.keys, i, i+1)
			return true
		}
	}
	return false
}

// Find returns whose token was presented. It compares hashes in constant time
// and looks at every key, so that its duration tells nothing.
func (k *Keyring) Find(presented string) (TokenInfo, bool) {
	h := sha256.Sum256([]byte(presented))
	k.mu.RLock()
	defer k.mu.RUnlock()
	found := -1
	for i := range k.keys {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(h[:], k.keys[i].hash[:]), i, found)
	}
	if found < 0 {
		return TokenInfo{}, false
	}
	return k.keys[found].info, true
}

// Prove shows that this server knows the token with that ID: the hex
// HMAC-SHA256 of nonce under the token. A page asks for it before it sends a
// stored token to a port that may belong to another program by now. It does not
// answer for a token that is known by its hash alone.
func (k *Keyring) Prove(id, nonce string) (proof string, ok bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, e := range k.keys {
		if e.info.ID == id && e.token != "" {
			m := hmac.New(sha256.New, []byte(e.token))
			m.Write([]byte(nonce))
			return hex.EncodeToString(m.Sum(nil)), true
		}
	}
	return "", false
}
