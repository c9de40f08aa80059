package secrets

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	for _, plain := range []string{"s3cret", "", "ünïcode \x00 and \n", strings.Repeat("x", 1<<16)} {
		sealed, err := s.Seal(plain)
		if err != nil {
			t.Fatal(err)
		}
		if plain != "" && (!strings.HasPrefix(sealed, "enc2:") || strings.Contains(sealed, plain)) {
			t.Errorf("Seal(%.20q) = %.40q", plain, sealed)
		}
		again, err := s.Seal(sealed)
		if err != nil || again != sealed {
			t.Errorf("a sealed value was sealed again: %v", err)
		}
		got, err := open(t, dir).Unseal(sealed)
		if err != nil || got != plain {
			t.Errorf("Unseal = %.20q, %v, want %.20q", got, err, plain)
		}
	}
	if got, err := s.Unseal("by hand"); err != nil || got != "by hand" {
		t.Errorf("plain text: %q, %v", got, err)
	}
	a, _ := s.Seal("same")
	b, _ := s.Seal("same")
	if a == b {
		t.Error("the nonce repeats")
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(filepath.Join(dir, KeyFile)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("key file: %v %v", info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestForeignCiphertext pins the format to one computed from its description.
func TestForeignCiphertext(t *testing.T) {
	dir := t.TempDir()
	key := bytes.Repeat([]byte{7}, 32)
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		t.Fatal(err)
	}
	nonce := bytes.Repeat([]byte{9}, 12)
	value := "enc2:" + hex.EncodeToString(append(nonce, aead.Seal(nil, nonce, []byte("s3cret"), nil)...))
	for _, text := range []string{hex.EncodeToString(key), hex.EncodeToString(key) + "\n", strings.ToUpper(hex.EncodeToString(key)) + "\r\n"} {
		if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := open(t, dir).Unseal(value); err != nil || got != "s3cret" {
			t.Errorf("key %q: %q, %v", text, got, err)
		}
	}
}

func TestUnsealRefuses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	good, err := s.Seal("s3cret-value")
	if err != nil {
		t.Fatal(err)
	}
	flip := []byte(good)
	flip[len(flip)-3] ^= 1
	for name, value := range map[string]string{
		"flipped": string(flip), "short": "enc2:00", "no hex": "enc2:zz", "empty": "enc2:", "old": "enc:0011",
		"cut": good[:len(good)-2], "odd": good[:len(good)-1],
	} {
		got, err := s.Unseal(value)
		if !errors.Is(err, ErrUnseal) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		} else if strings.Contains(err.Error(), good[6:20]) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error holds the value: %v", name, err)
		}
	}
	other := open(t, t.TempDir())
	if _, err := other.Unseal(good); !errors.Is(err, ErrUnseal) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("no key: %v", err)
	}
	if _, err := other.Seal("makes a key"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Unseal(good); !errors.Is(err, ErrUnseal) || !strings.Contains(err.Error(), "wrong key") {
		t.Errorf("wrong key: %v", err)
	}
	// The right key brought back is used without a restart.
	data, err := os.ReadFile(filepath.Join(dir, KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Unseal(good); err != nil || got != "s3cret-value" {
		t.Errorf("after the key came back: %q, %v", got, err)
	}
}

func TestKeyFileRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are checked on unix only")
	}
	hexKey := strings.Repeat("ab", 32)
	tests := []struct {
		name, want string
		make       func(path string) error
	}{
		{"short", "got 31", func(p string) error { return os.WriteFile(p, []byte(hexKey[:62]), 0o600) }},
		{"long", "got 33", func(p string) error { return os.WriteFile(p, []byte(hexKey+"00"), 0o600) }},
		{"empty", "got 0", func(p string) error { return os.WriteFile(p, nil, 0o600) }},
		{"no hex", "corrupt", func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("zz", 32)), 0o600) }},
		{"huge", "too long", func(p string) error { return os.WriteFile(p, make([]byte, 1<<20), 0o600) }},
		{"folder", "not a regular file", func(p string) error { return os.Mkdir(p, 0o700) }},
		{"link", "is a link", func(p string) error {
			if err := os.WriteFile(p+".real", []byte(hexKey), 0o600); err != nil {
				return err
			}
			return os.Symlink(p+".real", p)
		}},
		{"dangling link", "is a link", func(p string) error { return os.Symlink(p+".none", p) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, KeyFile)
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			_, err := open(t, dir).Seal("value")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Seal = %v, want %q", err, tt.want)
			}
			if _, err := os.Stat(path + ".none"); err == nil {
				t.Error("a key was written through a link")
			}
		})
	}
	t.Run("loose mode", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, KeyFile)
		if err := os.WriteFile(path, []byte(hexKey), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, dir).Seal("value"); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v was not repaired", info.Mode())
		}
	})
}

func TestManyCreateOneKey(t *testing.T) {
	dir := t.TempDir()
	sealed := make([]string, 20)
	var wg sync.WaitGroup
	for i := range sealed {
		wg.Go(func() {
			s, err := Open(dir, nil)
			if err == nil {
				sealed[i], err = s.Seal("value")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	for _, v := range sealed {
		if got, err := s.Unseal(v); err != nil || got != "value" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestOpenNeedsAbsolute(t *testing.T) {
	if _, err := Open("state", nil); err == nil {
		t.Error("a relative folder was accepted")
	}
}
