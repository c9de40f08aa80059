package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"sync"
)

// Hash is the SHA-256 of a token: what is kept of it and compared.
type Hash [sha256.Size]byte

// HashToken hashes a token. Tokens have 256 random bits, so a plain hash is
// enough to store one.
func HashToken(token string) Hash { return sha256.Sum256([]byte(token)) }

// Keyring is the set of tokens that are valid now. The zero value is empty and
// ready. Its Find is made for Config.Token.
type Keyring struct {
	mu   sync.RWMutex
	keys []key
}

type key struct {
	hash  Hash
	token string // kept only for tokens that Prove answers for
	info  TokenInfo
}

// Add makes token valid for info. info.ID must be unique; an older entry with
// the same ID is replaced.
func (k *Keyring) Add(token string, info TokenInfo) {
	k.put(key{hash: HashToken(token), token: token, info: info})
}

// AddHash makes the token with that hash valid: named tokens are stored as
// hashes.
func (k *Keyring) AddHash(h Hash, info TokenInfo) { k.put(key{hash: h, info: info}) }

func (k *Keyring) put(n key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.keys {
		if k.keys[i].info.ID == n.info.ID {
			k.keys[i] = n
			return
		}
	}
	k.keys = append(k.keys, n)
}

// Revoke makes the token with that ID invalid and reports whether there was
// one.
func (k *Keyring) Revoke(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.keys {
		if k.keys[i].info.ID == id {
			k.keys = append(k.keys[:i], k.keys[i+1:]...)
			return true
		}
	}
	return false
}

// Find returns whose token was presented. It compares hashes in constant time
// and looks at every key, so that its duration tells nothing.
func (k *Keyring) Find(presented string) (TokenInfo, bool) {
	h := HashToken(presented)
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
// stored token to a port that may belong to another program by now.
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
