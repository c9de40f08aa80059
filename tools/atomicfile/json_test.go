package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	kept := map[string]int{"was": 1}
	if found, err := ReadJSON(path, 100, &kept); found || err != nil || kept["was"] != 1 {
		t.Errorf("no file: %v, %v, %v", found, err, kept)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(path, map[string]int{"a": 2}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("written as %v, %v", info, err)
	}
	var got map[string]int
	if found, err := ReadJSON(path, 100, &got); !found || err != nil || got["a"] != 2 {
		t.Errorf("read %v, %v, %v", found, err, got)
	}
	if found, err := ReadJSON(path, 3, &got); !found || err == nil {
		t.Errorf("too long: %v, %v", found, err)
	}
	for _, text := range []string{"", "{", "[1] x", "null }"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := ReadJSON(path, 100, &got); !found || err == nil {
			t.Errorf("%q: %v, %v", text, found, err)
		}
	}
	if found, err := ReadJSON(filepath.Dir(path), 100, &got); !found || err == nil {
		t.Errorf("a folder: %v, %v", found, err)
	}
	if err := WriteJSON(path, make(chan int)); err == nil {
		t.Error("what is no JSON was written")
	}
}
