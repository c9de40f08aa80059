package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestObjects(t *testing.T) {
	s := fresh(t)
	text := strings.Repeat("añb€c😀", 1000)
	id := must[string](t)(s.Put(ctx, "s1", "text/plain", []byte(text)))
	// Read in parts of any size, the whole comes back.
	for _, limit := range []int64{4, 5, 7, 100, 4096, 0} {
		var got strings.Builder
		for offset := int64(0); ; {
			p := must[ObjectPage](t)(s.Result(ctx, id, offset, limit))
			if !utf8.ValidString(p.Text) || p.Size != int64(len(text)) || p.MIME != "text/plain" {
				t.Fatalf("part at %d = %+v", offset, p)
			}
			got.WriteString(p.Text)
			if offset = p.Next; offset == 0 {
				break
			}
		}
		if got.String() != text {
			t.Errorf("limit %d: %d bytes came back, want %d", limit, got.Len(), len(text))
		}
	}
	for _, tt := range []struct{ offset, limit int64 }{{2, 10}, {-1, 10}, {int64(len(text)) + 1, 10}, {1, 1}} {
		if _, err := s.Result(ctx, id, tt.offset, tt.limit); !errors.Is(err, ErrInvalid) {
			t.Errorf("Result(%d, %d) = %v", tt.offset, tt.limit, err)
		}
	}
	if p := must[ObjectPage](t)(s.Result(ctx, id, int64(len(text)), 10)); p.Text != "" || p.Next != 0 {
		t.Errorf("at the end: %+v", p)
	}
	if got, total, err := s.Text(ctx, "s1", id, 0, 4); err != nil || got != "añb" || total != int64(len(text)) {
		t.Errorf("Text = %q, %d, %v", got, total, err)
	}
	if _, _, err := s.Text(ctx, "s2", id, 0, 4); !errors.Is(err, ErrNotFound) {
		t.Errorf("another owner reads it: %v", err)
	}
	image := must[string](t)(s.Put(ctx, "s1", "image/png", []byte{0x89, 'P'}))
	if _, err := s.Result(ctx, image, 0, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("an image as text = %v", err)
	}
	o, f, err := s.Open(ctx, image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, _ := io.ReadAll(f); string(b) != "\x89P" || o.MIME != "image/png" || o.Size != 2 || o.Owner != "s1" {
		t.Errorf("Open = %+v, %q", o, b)
	}
	for _, bad := range []string{"", "../zeroclaw.db", "..", strings.Repeat("a", 26), strings.ToUpper(id), id + "x", id + "\x00"} {
		if _, _, err := s.Open(ctx, bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("Open(%q) = %v", bad, err)
		}
	}
	empty := must[string](t)(s.Put(ctx, "s1", "text/plain", nil))
	if p := must[ObjectPage](t)(s.Result(ctx, empty, 0, 0)); p.Text != "" || p.Size != 0 {
		t.Errorf("an empty result = %+v", p)
	}
}

func TestObjectsMakeRoom(t *testing.T) {
	s := New(Config{Dir: t.TempDir(), MaxObjects: 2500})
	defer s.Close()
	var ids []string
	for range 5 {
		ids = append(ids, must[string](t)(s.Put(ctx, "s", "text/plain", make([]byte, 1000))))
	}
	left := 0
	for _, id := range ids {
		if _, err := s.Result(ctx, id, 0, 0); err == nil {
			left++
		}
	}
	files, err := os.ReadDir(s.c.Dir + "/objects")
	if err != nil {
		t.Fatal(err)
	}
	if left != 2 || len(files) != 2 {
		t.Errorf("%d results and %d files are left, want 2", left, len(files))
	}
	if id := must[string](t)(s.Put(ctx, "s", "text/plain", make([]byte, 9000))); id == "" {
		t.Error("no id")
	} else if _, err := s.Result(ctx, id, 0, 0); err != nil {
		t.Errorf("one that is larger than the room is not kept: %v", err)
	}
}

// TestObjectsOfTheFirstSchema reads a result that an older version stored.
func TestObjectsOfTheFirstSchema(t *testing.T) {
	dir := t.TempDir()
	old, err := connect(filepath.Join(dir, dbName), "")
	if err != nil {
		t.Fatal(err)
	}
	const id = "abcdefghijklmnopqrstuvwxyz"
	if _, err := old.Exec(migrations[0] + `; PRAGMA user_version=1; INSERT INTO objects VALUES ('` + id + `', 's', 'text/plain', 1, 1767225600000)`); err != nil {
		t.Fatal(err)
	}
	old.Close()
	s := New(Config{Dir: dir, Now: func() time.Time { return time.UnixMilli(1767225600000) }})
	defer s.Close()
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.objectPath(id), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, _, err := s.Text(ctx, "s", id, 0, 0); text != "x" || err != nil {
		t.Errorf("Text = %q, %v", text, err)
	}
}
