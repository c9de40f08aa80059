package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"zeroclaw/tools"
)

// A process that is killed leaves the start of its call behind.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("STORE_TEST_DIR"); dir != "" {
		s := New(Config{Dir: dir})
		c, err := s.CreateConversation(ctx, "killed", nil)
		if err == nil {
			_, _, err = s.Append(ctx, c.ID, 1, 0, []Message{msg("user", "kept")})
		}
		if err == nil {
			err = s.CallStarted(ctx, tools.Call{ID: "1", Session: "s", Conversation: c.ID}, tools.Outcome{CallID: "1", Status: tools.Running})
		}
		fmt.Println("ready", err)
		time.Sleep(time.Minute)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "STORE_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, _ := out.Read(buf)
	cmd.Process.Kill()
	cmd.Wait()
	if !strings.HasPrefix(string(buf[:n]), "ready <nil>") {
		t.Fatalf("the child said %q", buf[:n])
	}
	s := at(t, dir)
	list, _, err := s.Conversations(ctx, "", 0)
	if err != nil || len(list) != 1 || list[0].Messages != 1 {
		t.Fatalf("after the kill: %+v, %v", list, err)
	}
	if calls := must[[]RecordedCall](t)(s.Calls(ctx, list[0].ID, 0)); len(calls) != 1 || calls[0].Status != tools.Interrupted {
		t.Errorf("after the kill: %+v", calls)
	}
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	s := fresh(t)
	if err := os.WriteFile(filepath.Join(s.c.Dir, dbName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	must[Conversation](t)(s.CreateConversation(ctx, "x", nil))
	must[string](t)(s.Put(ctx, "s", "text/plain", []byte("x")))
	filepath.Walk(s.c.Dir, func(path string, info os.FileInfo, err error) error {
		if path != s.c.Dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	other := fresh(t)
	if err := os.Symlink(filepath.Join(s.c.Dir, dbName), filepath.Join(other.c.Dir, dbName)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a planted link = %v", err)
	}
}

func TestDamagedFile(t *testing.T) {
	whole := fresh(t)
	c := must[Conversation](t)(whole.CreateConversation(ctx, "x", nil))
	var many []Message
	for i := range 500 {
		many = append(many, msg("user", strings.Repeat("word ", 50)+fmt.Sprint(i)))
	}
	if _, _, err := whole.Append(ctx, c.ID, 1, 0, many); err != nil {
		t.Fatal(err)
	}
	whole.Close()
	good, err := os.ReadFile(filepath.Join(whole.c.Dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	scribbled := bytes.Clone(good)
	for i := len(scribbled) / 3; i < len(scribbled)/2; i++ {
		scribbled[i] = byte(i * 7)
	}
	for name, text := range map[string][]byte{"text": []byte(strings.Repeat("not a database ", 100)), "cut": good[:len(good)/2], "scribbled": scribbled} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, dbName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := at(t, dir)
		if _, err := s.CreateConversation(ctx, "new", nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kept, _ := filepath.Glob(filepath.Join(dir, dbName+".damaged-*"))
		if len(kept) == 0 || !strings.Contains(s.Problem(), "was damaged") || !strings.Contains(s.Problem(), kept[0]) {
			t.Errorf("%s: kept %v, problem %q", name, kept, s.Problem())
			continue
		}
		if was, _ := os.ReadFile(kept[0]); !bytes.Equal(was, text) {
			t.Errorf("%s: the damaged file was changed", name)
		}
	}
}

func TestCannotWrite(t *testing.T) {
	missing := at(t, filepath.Join(t.TempDir(), "none"))
	if _, err := missing.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("no folder = %v", err)
	}
	newer := fresh(t)
	h, err := newer.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.write.Exec("PRAGMA user_version=999"); err != nil {
		t.Fatal(err)
	}
	newer.Close()
	again := at(t, newer.c.Dir)
	if _, err := again.CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer file = %v", err)
	}
	// A full disk: SQLite's own limit gives the same code.
	full := fresh(t)
	c := must[Conversation](t)(full.CreateConversation(ctx, "x", nil))
	h, err = full.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.write.Exec("PRAGMA max_page_count=40"); err != nil {
		t.Fatal(err)
	}
	_, _, err = full.Append(ctx, c.ID, 1, 0, []Message{msg("user", strings.Repeat("x y ", 200_000))})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("a full disk = %v", err)
	}
	if p := must[Page](t)(full.Messages(ctx, c.ID, 0, 0)); p.Version != 1 || len(p.Messages) != 0 {
		t.Errorf("half an append is there: %+v", p)
	}
	if _, _, err := full.Append(ctx, c.ID, 1, 0, []Message{msg("user", "small")}); err != nil {
		t.Errorf("after the failed one: %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("this needs a user whom permission bits bind")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o500)
	if _, err := at(t, dir).CreateConversation(ctx, "x", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("a read-only folder = %v", err)
	}
}
