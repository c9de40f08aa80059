package secrets

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"
)

// Prefix marks a sealed value.
const Prefix = "enc2:"

// oldPrefix marked values of ZeroClaw before enc2: they are not authenticated
// and are refused.
const oldPrefix = "enc:"

// KeyFile is the name of the key file inside the state folder.
const KeyFile = ".secret_key"

// ErrUnseal is wrapped by every error of Unseal that comes from the value or
// the key, not from the disk: a wrong key, a changed ciphertext, or no
// ciphertext at all.
var ErrUnseal = errors.New("the value cannot be unsealed")

// Store seals and unseals single values with the key of one state folder, and
// redacts the values it was told about. Methods may be called at any time from
// any goroutine. The key is read on first need and created by the first Seal,
// so that a Store costs nothing on a machine without secrets and works, for
// reading, in a read-only home.
type Store struct {
	*Redactor
	path string
	rand io.Reader

	mu   sync.Mutex // guards aead and creation of the key
	aead cipher.AEAD
}

// Open returns the store of the state folder dir, an absolute path. It reads
// nothing yet. rand is the source of keys and nonces; nil is crypto/rand.
func Open(dir string, random io.Reader) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open the secret store: the state folder %q must be an absolute path", dir)
	}
	if random == nil {
		random = rand.Reader
	}
	return &Store{Redactor: NewRedactor(), path: filepath.Join(dir, KeyFile), rand: random}, nil
}

// IsSealed reports whether a value claims to be sealed. An old "enc:" value
// counts, so that it is never taken for plain text.
func IsSealed(value string) bool {
	return strings.HasPrefix(value, Prefix) || strings.HasPrefix(value, oldPrefix)
}

// Seal returns the sealed form of plain and makes Redact know the value. The
// empty string stays empty and a value that is sealed already stays as it is.
// The first call on a new state folder creates the key file.
func (s *Store) Seal(plain string) (string, error) {
	if plain == "" || strings.HasPrefix(plain, Prefix) {
		return plain, nil
	}
	aead, err := s.key(true)
	if err != nil {
		return "", fmt.Errorf("seal a secret: %w", err)
	}
	nonce := make([]byte, chacha20poly1305.NonceSize, chacha20poly1305.NonceSize+len(plain)+chacha20poly1305.Overhead)
	if _, err := io.ReadFull(s.rand, nonce); err != nil {
		return "", fmt.Errorf("seal a secret: read random bytes: %w", err)
	}
	s.Add(plain)
	return Prefix + hex.EncodeToString(aead.Seal(nonce, nonce, []byte(plain), nil)), nil
}

// Unseal returns the plain value and makes Redact know it. A value without
// the prefix was written by hand and is returned as it is. Errors wrap
// ErrUnseal and never hold the value; callers add the name of the field.
func (s *Store) Unseal(value string) (string, error) {
	switch {
	case strings.HasPrefix(value, Prefix):
	case strings.HasPrefix(value, oldPrefix):
		return "", fmt.Errorf("%w: it is in the old, unauthenticated enc: form; set it again", ErrUnseal)
	default:
		s.Add(value)
		return value, nil
	}
	sealed, err := hex.DecodeString(value[len(Prefix):])
	if err != nil || len(sealed) < chacha20poly1305.NonceSize+chacha20poly1305.Overhead {
		return "", fmt.Errorf("%w: what follows %s is not a complete ciphertext in hex; set it again", ErrUnseal, Prefix)
	}
	aead, err := s.key(false)
	if err != nil {
		return "", err
	}
	plain, err := aead.Open(nil, sealed[:chacha20poly1305.NonceSize], sealed[chacha20poly1305.NonceSize:], nil)
	if err != nil {
		// The key file may have been replaced since it was read.
		s.forget()
		if aead, err = s.key(false); err != nil {
			return "", err
		}
		plain, err = aead.Open(nil, sealed[:chacha20poly1305.NonceSize], sealed[chacha20poly1305.NonceSize:], nil)
	}
	if err != nil {
		return "", fmt.Errorf("%w: wrong key (%s) or tampered ciphertext; restore the key file or set the value again", ErrUnseal, s.path)
	}
	s.Add(string(plain))
	return string(plain), nil
}

// forget drops the cached key.
func (s *Store) forget() {
	s.mu.Lock()
	s.aead = nil
	s.mu.Unlock()
}

// key returns the cipher, reading the key file when that has not happened yet
// and, for create, making it when it is missing.
func (s *Store) key(create bool) (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aead != nil {
		return s.aead, nil
	}
	key, err := readKey(s.path)
	switch {
	case errors.Is(err, errNoKey) && create:
		key, err = createKey(s.path, s.rand)
	case errors.Is(err, errNoKey):
		err = fmt.Errorf("%w: the key file %s is missing; bring it back or set the value again", ErrUnseal, s.path)
	}
	if err != nil {
		return nil, err
	}
	s.aead, err = chacha20poly1305.New(key)
	return s.aead, err
}
