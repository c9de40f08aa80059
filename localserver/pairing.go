package localserver

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"zeroclaw/localserver/guard"
)

// pairing hands out one-use launch codes and trades them for tokens, so that
// no token is ever part of an address.
type pairing struct {
	keys *guard.Keyring
	rand io.Reader
	now  func() time.Time
	warn func(code, message string)

	mu    sync.Mutex
	codes map[string]launch
}

type launch struct {
	until   time.Time
	tokenID string // set once it was traded
}

func newPairing(keys *guard.Keyring, random io.Reader, now func() time.Time, warn func(code, message string)) *pairing {
	return &pairing{keys: keys, rand: random, now: now, warn: warn, codes: map[string]launch{}}
}

// newToken returns 32 random bytes as text. Without randomness nothing may
// start, so it panics.
func newToken(random io.Reader) string {
	b := make([]byte, 32)
	if _, err := io.ReadFull(random, b); err != nil {
		panic("localserver: no randomness for a token: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// newID returns an unguessable id.
func newID() string { return rand.Text() }

// code makes a launch code.
func (p *pairing) code(life time.Duration) string {
	c := newToken(p.rand)
	p.mu.Lock()
	defer p.mu.Unlock()
	for old, l := range p.codes {
		// A traded code is kept a while so that its second use is noticed.
		if p.now().Sub(l.until) > time.Hour {
			delete(p.codes, old)
		}
	}
	p.codes[c] = launch{until: p.now().Add(life)}
	return c
}

var errCodeReused = errors.New("the code was used already, and what it opened has been disconnected")

// trade gives a token for a code. A code that comes twice was seen by somebody
// else: the token it gave is revoked, whatever runs in its name ends, and the
// user is warned.
func (p *pairing) trade(code, origin string) (token, id string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.codes[code]
	switch {
	case ok && l.tokenID != "":
		if p.keys.Revoke(l.tokenID) {
			p.warn("code_reused", "a launch code was used twice, so the page that used it first was disconnected; if that was not you, another program of this machine has read the address")
		}
		return "", "", errCodeReused
	case !ok || p.now().After(l.until):
		return "", "", fmt.Errorf("the code is not valid or too old")
	}
	token, id = newToken(p.rand), newID()
	p.keys.Add(token, guard.TokenInfo{ID: id, Kind: guard.Page, Origin: origin})
	l.tokenID = id
	p.codes[code] = l
	return token, id, nil
}

// postPair serves POST /api/pair.
func (s *Server) postPair(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	token, id, err := s.pairing.trade(in.Code, guard.From(r).UIOrigin)
	if errors.Is(err, errCodeReused) {
		s.log.Warn("a launch code was used twice, its token is revoked")
	}
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusForbidden, Code: "bad_code", Field: "code",
			Message: err.Error() + "; run zeroclaw open for a new one"})
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]string{"token": token, "token_id": id})
}

// postProve serves POST /api/prove.
func (s *Server) postProve(w http.ResponseWriter, r *http.Request) {
	var in struct {
		TokenID string `json:"token_id"`
		Nonce   string `json:"nonce"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if len(in.Nonce) < 16 || len(in.Nonce) > 256 {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "nonce", Message: "send 16 to 256 random characters"})
		return
	}
	proof, ok := s.keys.Prove(in.TokenID, in.Nonce)
	if !ok {
		guard.WriteError(w, &guard.Error{Status: http.StatusNotFound, Code: "unknown_token", Field: "token_id", Message: "this companion did not give that token; run zeroclaw open"})
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]string{"proof": proof})
}
