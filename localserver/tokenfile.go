package localserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"zeroclaw/localserver/guard"
	"zeroclaw/tools/atomicfile"
)

// Bounds of named tokens.
const (
	maxTokens    = 100
	maxTokenName = 64      // characters
	maxTokenFile = 1 << 20 // bytes
)

// tokenPrefix begins every named token. By it tokens are found and redacted in
// texts, also those of which only the hash is known by now.
const tokenPrefix = "zeroclaw_"

// namedToken is one token for another program, as state/tokens.json has it. The
// token itself is nowhere.
type namedToken struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Agent    string    `json:"agent"`
	SHA256   string    `json:"sha256"` // hex, of the token's text
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"`
	LastUsed time.Time `json:"last_used,omitzero"`
}

func (n namedToken) expired(now time.Time) bool { return !n.Expires.IsZero() && !now.Before(n.Expires) }

// hash decodes SHA256.
func (n namedToken) hash() (h [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(n.SHA256)
	if err != nil || len(b) != len(h) {
		return h, errors.New("sha256 is not 64 hex digits")
	}
	return [sha256.Size]byte(b), nil
}

// readTokens reads and checks the file. Nothing in it is guessed: an expiry that
// was overlooked would make a token last for ever.
func readTokens(path string) ([]namedToken, error) {
	var file struct {
		Tokens []namedToken `json:"tokens"`
	}
	data, err := atomicfile.Read(path, maxTokenFile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	if f := guard.DecodeBytes(data, &file); f != nil {
		return nil, f
	}
	if len(file.Tokens) > maxTokens {
		return nil, fmt.Errorf("it has %d tokens, and %d are the most", len(file.Tokens), maxTokens)
	}
	for i, n := range file.Tokens {
		err := checkTokenName(n.Name, file.Tokens[:i])
		switch {
		case err != nil:
		case n.ID == "" || slices.ContainsFunc(file.Tokens[:i], func(o namedToken) bool { return o.ID == n.ID || o.SHA256 == n.SHA256 }):
			err = errors.New("its id or its hash is missing, or another's")
		case n.Agent == "" || n.Created.IsZero():
			err = errors.New("its agent or its time is missing")
		default:
			_, err = n.hash()
		}
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
	}
	return file.Tokens, nil
}

// checkTokenName says why a token may not be called so beside others.
func checkTokenName(name string, others []namedToken) error {
	printable := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	n := utf8.RuneCountInString(name)
	if n == 0 || n > maxTokenName || strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return !printable(r) }) {
		return fmt.Errorf("a name has 1 to %d printable characters and no space at its ends", maxTokenName)
	}
	// Two names that differ in case alone would be taken for one another.
	if slices.ContainsFunc(others, func(o namedToken) bool { return strings.EqualFold(o.Name, name) }) {
		return errors.New("another token has this name; choose a different one, or revoke that token first")
	}
	return nil
}
