package localserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"zeroclaw/localserver/guard"
)

// openStore opens a store of the file at path that runs on the clock of time.
func openStore(t *testing.T, path string) (s *tokenStore, keys *guard.Keyring, changes *atomic.Int64) {
	t.Helper()
	keys, changes = &guard.Keyring{}, &atomic.Int64{}
	s, err := openTokens(tokenConfig{path: path, keys: keys, rand: rand.Reader, now: time.Now, changed: func() { changes.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, keys, changes
}

// TestTokenExpires: a token ends at its time, also for who uses it at that
// moment, and a restart does not bring it back.
func TestTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens.json")
		s, keys, changes := openStore(t, path)
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx) }()
		token, n, err := s.Create("short", "assistant", time.Now().Add(90*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(89 * time.Second)
		if _, ok := s.Find(token); !ok {
			t.Fatal("it ended early")
		}
		synctest.Wait()
		before := changes.Load()
		time.Sleep(time.Second)
		synctest.Wait()
		if _, ok := keys.Find(token); ok {
			t.Error("nobody ended it, so what runs in its name goes on")
		}
		if changes.Load() == before {
			t.Error("its end was not told")
		}
		if _, ok := s.Find(token); ok {
			t.Error("it is valid after its end")
		}
		if list, _ := s.List(); len(list) != 1 || list[0].ID != n.ID {
			t.Errorf("listed %+v: a person is to see that it ended", list)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		s, keys, _ = openStore(t, path)
		if _, ok := keys.Find(token); ok {
			t.Error("a restart brought it back")
		}
		// Without Serve, and with a keyring that does not know better.
		keys.AddHash(sha256.Sum256([]byte(token)), guard.TokenInfo{ID: n.ID, Kind: guard.Named})
		if _, ok := s.Find(token); ok {
			t.Error("Find does not look at the time")
		}
		if _, ok := keys.Find(token); ok {
			t.Error("Find left an ended token in the keyring")
		}
	})
}

// TestTokenUseIsSavedSeldom: the first use at once, then once a minute, and what
// is left at the end; never by the request.
func TestTokenUseIsSavedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens.json")
		s, _, _ := openStore(t, path)
		token, _, err := s.Create("busy", "assistant", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		saved := func() time.Time {
			list, err := readTokens(path)
			if err != nil || len(list) != 1 {
				t.Fatalf("the file has %+v, %v", list, err)
			}
			return list[0].LastUsed
		}
		s.Find(token)
		if !saved().IsZero() {
			t.Error("the request itself saved")
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx) }()
		synctest.Wait()
		first := saved()
		if first.IsZero() {
			t.Error("the first use is not saved")
		}
		for range 59 {
			time.Sleep(time.Second)
			s.Find(token)
		}
		synctest.Wait()
		if now := saved(); now != first {
			t.Errorf("saved again after %v", now.Sub(first))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if saved() == first {
			t.Error("not saved within a minute")
		}
		time.Sleep(time.Second)
		s.Find(token)
		last := time.Now().Truncate(time.Second)
		cancel()
		if err := <-served; err != nil || !saved().Equal(last) {
			t.Errorf("at the end %v was saved, want %v; %v", saved(), last, err)
		}
	})
}

// TestDamagedTokens: nothing in a damaged file counts, nothing is lost of it, and
// the companion says so.
func TestDamagedTokens(t *testing.T) {
	sum := sha256.Sum256([]byte(tokenPrefix + "x"))
	hash := hex.EncodeToString(sum[:])
	entry := func(change func(m map[string]any)) string {
		m := map[string]any{"id": "A", "name": "a", "agent": "assistant", "sha256": hash, "created": "2026-01-01T00:00:00Z"}
		change(m)
		b, _ := json.Marshal(m)
		return string(b)
	}
	good := entry(func(map[string]any) {})
	file := func(entries ...string) string { return `{"tokens":[` + strings.Join(entries, ",") + `]}` }
	set := func(key string, value any) string { return file(entry(func(m map[string]any) { m[key] = value })) }
	var many []string
	for i := range 10_000 {
		h := sha256.Sum256(fmt.Append(nil, i))
		many = append(many, fmt.Sprintf(`{"id":"%d","name":"%d","agent":"assistant","sha256":"%x","created":"2026-01-01T00:00:00Z"}`, i, i, h))
	}
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"cut off", file(good)[:60]},
		{"two values", file(good) + file(good)},
		{"no list", `{"tokens":{}}`},
		{"a misspelt end", set("expire", "2026-01-02T00:00:00Z")},
		{"an end that is none", set("expires", "tomorrow")},
		{"two ends", strings.Replace(file(good), `"name"`, `"expires":"2026-01-02T00:00:00Z","expires":"2999-01-02T00:00:00Z","name"`, 1)},
		{"a short hash", set("sha256", hash[:62])},
		{"no hash", set("sha256", "")},
		{"no hex", set("sha256", strings.Repeat("g", 64))},
		{"no id", set("id", "")},
		{"no agent", set("agent", "")},
		{"a name that moves the cursor", set("name", "a\x1b[2J")},
		{"a name of 65", set("name", strings.Repeat("a", 65))},
		{"one id twice", file(good, entry(func(m map[string]any) { m["name"], m["sha256"] = "b", strings.Repeat("0", 64) }))},
		{"one hash twice", file(good, entry(func(m map[string]any) { m["name"], m["id"] = "b", "B" }))},
		{"one name twice", file(good, entry(func(m map[string]any) { m["name"], m["id"], m["sha256"] = "A", "B", strings.Repeat("0", 64) }))},
		{"10,000 tokens", file(many...)},
		{"two megabytes", file(good) + strings.Repeat(" ", 2<<20)},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "tokens.json")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys := &guard.Keyring{}
		s, err := openTokens(tokenConfig{path: path, keys: keys, rand: rand.Reader, now: time.Now, changed: func() {}})
		if !errors.Is(err, errTokensUnreadable) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if _, ok := s.Find(tokenPrefix + "x"); ok {
			t.Errorf("%s: a token counts", tt.name)
		}
		if _, _, err := s.Create("new", "assistant", time.Time{}); !errors.Is(err, errTokensUnreadable) {
			t.Errorf("%s: Create = %v", tt.name, err)
		}
		if err := s.Revoke("A"); !errors.Is(err, errTokensUnreadable) {
			t.Errorf("%s: Revoke = %v", tt.name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Serve(ctx); err != nil {
			t.Errorf("%s: Serve = %v", tt.name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != tt.text {
			t.Errorf("%s: the file was touched", tt.name)
		}
	}
	path := filepath.Join(t.TempDir(), "tokens.json")
	if err := os.WriteFile(path, []byte(file(good)), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _, _ := openStore(t, path); len(s.list) != 1 {
		t.Error("the entry that the others are made of is no good itself")
	}
}

// TestDamagedTokensAreShown: the page and the command line see what is wrong.
func TestDamagedTokensAreShown(t *testing.T) {
	r := newRig(t, func(c *Config) {
		dir := filepath.Join(c.State, "state")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(`{"tokens":[`), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	found := false
	for _, p := range r.server.Problems() {
		found = found || p.Code == "tokens" && strings.Contains(p.Message, "tokens.json")
	}
	if !found {
		t.Errorf("problems are %+v", r.server.Problems())
	}
	for _, target := range []string{"GET /api/tokens", "POST /api/tokens", "DELETE /api/tokens/A"} {
		method, path, _ := strings.Cut(target, " ")
		var body any
		if method == "POST" {
			body = map[string]any{"name": "x"}
		}
		if status, text := r.request(method, path, body); status != http.StatusConflict || !strings.Contains(text, "tokens_unreadable") {
			t.Errorf("%s = %d %s", target, status, text)
		}
	}
}

// TestTokenThatCannotBeSaved: a new one does not count, a revoked one is off all
// the same and can be revoked again.
func TestTokenThatCannotBeSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, keys, _ := openStore(t, filepath.Join(dir, "tokens.json"))
	token, n, err := s.Create("a", "assistant", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	away := dir + " away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	if token, _, err := s.Create("b", "assistant", time.Time{}); err == nil || token != "" {
		t.Errorf("Create = %q, %v", token, err)
	}
	if list, _ := s.List(); len(list) != 1 {
		t.Errorf("listed %+v", list)
	}
	if err := s.Revoke(n.ID); err == nil {
		t.Error("Revoke says that it is done")
	}
	if _, ok := keys.Find(token); ok {
		t.Error("it is still valid")
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(n.ID); err != nil {
		t.Errorf("again: %v", err)
	}
	if list, err := readTokens(s.c.path); err != nil || len(list) != 0 {
		t.Errorf("the file has %+v, %v", list, err)
	}
}
