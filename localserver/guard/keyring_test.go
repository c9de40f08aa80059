package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

func TestKeyring(t *testing.T) {
	var k Keyring
	if _, ok := k.Find(""); ok {
		t.Error("an empty keyring knows the empty token")
	}
	k.Add("one", TokenInfo{ID: "1", Kind: Page})
	k.Add("two", TokenInfo{ID: "2", Kind: CLI})
	k.Add("three", TokenInfo{ID: "3", Kind: Named})
	for _, tt := range []struct {
		token, id string
	}{{"one", "1"}, {"two", "2"}, {"three", "3"}, {"on", ""}, {"onee", ""}, {"ONE", ""}, {"", ""}} {
		if info, ok := k.Find(tt.token); ok != (tt.id != "") || info.ID != tt.id {
			t.Errorf("Find(%q) = %v, %v, want %q", tt.token, info, ok, tt.id)
		}
	}
	// echo -n nonce | openssl dgst -sha256 -hmac one
	if p, ok := k.Prove("1", "nonce"); !ok || len(p) != 64 {
		t.Errorf("Prove = %q, %v", p, ok)
	}
	if _, ok := k.Prove("4", "nonce"); ok {
		t.Error("a token that nobody has was proved")
	}
	if !k.Revoke("1") || k.Revoke("1") {
		t.Error("Revoke does not revoke once")
	}
	if _, ok := k.Find("one"); ok {
		t.Error("a revoked token is valid")
	}
}

// TestKeyringHash: a token that is known by its hash is found like any other,
// and nothing proves it: whoever knows the hash may not pass for its server.
func TestKeyringHash(t *testing.T) {
	var k Keyring
	k.AddHash(sha256.Sum256([]byte("named")), TokenInfo{ID: "n", Kind: Named, Agent: "coder"})
	info, ok := k.Find("named")
	if !ok || info.ID != "n" || info.Agent != "coder" {
		t.Errorf("Find = %+v, %v", info, ok)
	}
	sum := sha256.Sum256([]byte("named"))
	for _, presented := range []string{"", string(sum[:]), hex.EncodeToString(sum[:])} {
		if info, ok := k.Find(presented); ok {
			t.Errorf("Find(%q) = %+v", presented, info)
		}
	}
	if proof, ok := k.Prove("n", "nonce"); ok {
		t.Errorf("Prove = %q", proof)
	}
	if !k.Revoke("n") || info.valid.Err() == nil {
		t.Error("Revoke does not end what runs in its name")
	}
}

// A browser that pairs again and again does not fill the memory, and takes no
// token away from the command line.
func TestKeyringForgetsOldPages(t *testing.T) {
	var k Keyring
	k.Add("cli", TokenInfo{ID: "cli", Kind: CLI})
	for i := range MaxPages + 10 {
		k.Add(fmt.Sprint("t", i), TokenInfo{ID: fmt.Sprint(i), Kind: Page})
	}
	if len(k.keys) != MaxPages+1 {
		t.Errorf("%d tokens are kept, want %d", len(k.keys), MaxPages+1)
	}
	for token, want := range map[string]bool{"cli": true, "t0": false, "t9": false, "t10": true, fmt.Sprint("t", MaxPages+9): true} {
		if _, ok := k.Find(token); ok != want {
			t.Errorf("Find(%q) = %v, want %v", token, ok, want)
		}
	}
}

// What a request with a token has begun ends when the token is revoked, or is
// replaced, before or while the handler runs.
func TestRevokedWhileServed(t *testing.T) {
	for name, revoke := range map[string]func(k *Keyring){
		"revoked":  func(k *Keyring) { k.Revoke("p") },
		"replaced": func(k *Keyring) { k.Add("another", TokenInfo{ID: "p", Kind: Page}) },
	} {
		t.Run(name, func(t *testing.T) {
			var k Keyring
			k.Add("mine", TokenInfo{ID: "p", Kind: Page})
			k.Add("other", TokenInfo{ID: "q", Kind: Page})
			running := make(chan context.Context, 2)
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				running <- r.Context()
				<-r.Context().Done()
			})
			g := New(Config{Port: 1234, Token: k.Find}, []Route{{"GET", "/api/x", Token, NoBody, 0, handler, nil}})
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			defer wg.Wait()
			defer cancel()
			for _, token := range []string{"mine", "other"} {
				r := httptest.NewRequestWithContext(ctx, "GET", "/api/x", nil)
				r.Host = "127.0.0.1:1234"
				r.Header.Set("Authorization", "Bearer "+token)
				wg.Go(func() { g.ServeHTTP(httptest.NewRecorder(), r) })
			}
			var a, b context.Context
			for _, p := range []*context.Context{&a, &b} {
				select {
				case *p = <-running:
				case <-time.After(5 * time.Second):
					t.Fatal("a request was refused")
				}
			}
			if From(new(http.Request).WithContext(a)).ID != "p" {
				a, b = b, a
			}
			revoke(&k)
			select {
			case <-a.Done():
			case <-time.After(5 * time.Second):
				t.Fatal("the request goes on with a token that is no longer valid")
			}
			if b.Err() != nil {
				t.Error("the request of another token ended as well")
			}
		})
	}
}
