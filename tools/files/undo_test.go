package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

func TestUndo(t *testing.T) {
	g := newGate(t, "RW:./**")
	ctx := context.Background()
	g.write("a", "old\r\n\xff")
	if err := os.Chmod(g.path("a"), 0o750); err != nil {
		t.Fatal(err)
	}
	first := into[editResult](t, g.call("edit_file", map[string]any{"path": "a", "old_text": "old", "new_text": "new"}))
	second := into[editResult](t, g.call("edit_file", map[string]any{"path": "a", "content": "newer"}))
	created := into[editResult](t, g.call("edit_file", map[string]any{"path": "b/c", "content": "x"}))
	judge := g.judge("edit_file")

	if _, err := g.files.Undo(ctx, first.UndoID, judge); !errors.Is(err, ErrUndoChanged) {
		t.Errorf("undo of an edit under another one: %v", err)
	}
	deny := func(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
		p, _ := judge(path, op)
		return p, permissions.Verdict{Decision: permissions.Deny, Reason: "because"}
	}
	if _, err := g.files.Undo(ctx, second.UndoID, deny); err == nil || !strings.Contains(err.Error(), "because") {
		t.Errorf("denied undo: %v", err)
	}
	for _, id := range []string{"", "../x", "0", strings.Repeat("0", 11) + "-" + strings.Repeat("0", 16)} {
		if _, err := g.files.Undo(ctx, id, judge); !errors.Is(err, ErrUndoUnknown) {
			t.Errorf("undo %q: %v", id, err)
		}
	}
	for _, id := range []string{second.UndoID, first.UndoID} {
		r, err := g.files.Undo(ctx, id, judge)
		if err != nil || !r.Restored || r.Hash == "" {
			t.Errorf("undo = %+v, %v", r, err)
		}
		if _, err := g.files.Undo(ctx, id, judge); !errors.Is(err, ErrUndoUnknown) {
			t.Errorf("second undo: %v", err)
		}
	}
	if got := g.read("a"); got != "old\r\n\xff" {
		t.Errorf("after undo: %q", got)
	}
	if fi, err := os.Stat(g.path("a")); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o750 {
		t.Errorf("mode after undo = %v, %v", fi, err)
	}
	if r, err := g.files.Undo(ctx, created.UndoID, judge); err != nil || !r.Deleted {
		t.Errorf("undo of a created file = %+v, %v", r, err)
	}
	if _, err := os.Stat(g.path("b/c")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the created file is still there: %v", err)
	}
}

func TestUndoStore(t *testing.T) {
	g := newGate(t, "RW:./**")
	g.files.cfg.MaxUndoBytes = 5000
	g.write("a", strings.Repeat("x", 1000))
	var ids []string
	for range 12 {
		r := into[editResult](t, g.call("edit_file", map[string]any{"path": "a", "mode": "append", "content": "y"}))
		ids = append(ids, r.UndoID)
	}
	entries, err := os.ReadDir(g.files.cfg.Undo)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += fi.Size()
		if runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), fi.Mode())
		}
	}
	if total > 5000+1000 || len(entries) < 4 {
		t.Errorf("%d files with %d bytes are kept", len(entries), total)
	}
	if _, err := g.files.Undo(context.Background(), ids[0], g.judge("edit_file")); !errors.Is(err, ErrUndoUnknown) {
		t.Errorf("the oldest edit: %v", err)
	}
	if _, err := g.files.Undo(context.Background(), ids[11], g.judge("edit_file")); err != nil {
		t.Errorf("the newest edit: %v", err)
	}
	g.write("big", strings.Repeat("x", 6000))
	r := into[editResult](t, g.call("edit_file", map[string]any{"path": "big", "mode": "append", "content": "y"}))
	if r.UndoID != "" || !strings.Contains(r.Note, "cannot be undone") {
		t.Errorf("result = %+v", r)
	}
	// A refused edit leaves nothing behind.
	before, _ := os.ReadDir(g.files.cfg.Undo)
	g.fails("edit_file", `{"path":"a","old_text":"nowhere","new_text":"b"}`, "does not occur")
	if after, _ := os.ReadDir(g.files.cfg.Undo); len(after) != len(before) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}

func TestUndoDamaged(t *testing.T) {
	g := newGate(t, "RW:./**")
	g.write("a", "old")
	r := into[editResult](t, g.call("edit_file", map[string]any{"path": "a", "content": "new"}))
	if err := os.WriteFile(filepath.Join(g.files.cfg.Undo, r.UndoID+oldSuffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := g.files.Undo(context.Background(), r.UndoID, g.judge("edit_file")); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error = %v", err)
	}
	if got := g.read("a"); got != "new" {
		t.Errorf("content = %q", got)
	}
}

// TestForget removes what one conversation's edits kept, and nothing else.
func TestForget(t *testing.T) {
	g := newGate(t, "RW:./**")
	edit := func(owner, path string) string {
		t.Helper()
		args := fmt.Sprintf(`{"path":%q,"content":"new"}`, path)
		_, paths, err := g.plan("edit_file", args)
		if err != nil {
			t.Fatal(err)
		}
		ctx := g.pass("edit_file", paths)
		pass, _ := tools.PassFrom(ctx)
		pass.Owner = owner
		r, err := g.tool("edit_file").Run(ctx, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return into[editResult](t, r).UndoID
	}
	for _, f := range []string{"a", "b", "c"} {
		g.write(f, "private words")
	}
	gone, stays, nobodys := edit("conversation", "a"), edit("conversation2", "b"), edit("", "c")
	for _, owner := range []string{"conversation", "", "never"} {
		if err := g.files.Forget(owner); err != nil {
			t.Errorf("Forget(%q) = %v", owner, err)
		}
	}
	judge := g.judge("edit_file")
	if _, err := g.files.Undo(t.Context(), gone, judge); !errors.Is(err, ErrUndoUnknown) {
		t.Errorf("undo of an edit that was forgotten: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(g.files.cfg.Undo, gone+"*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	for _, id := range []string{stays, nobodys} {
		if _, err := g.files.Undo(t.Context(), id, judge); err != nil {
			t.Errorf("undo of another's edit: %v", err)
		}
	}
	if err := New(Config{Undo: filepath.Join(g.root, "none")}).Forget("x"); err != nil {
		t.Errorf("Forget without anything kept: %v", err)
	}
}

// A call that waits for another edit of its file ends when it is cancelled.
func TestCancelWhileWaitingForTheFile(t *testing.T) {
	f := New(Config{})
	done, err := f.alone(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.alone(ctx, "/a"); !errors.Is(err, context.Canceled) {
		t.Errorf("the second got its turn: %v", err)
	}
	done()
	if again, err := f.alone(t.Context(), "/a"); err != nil {
		t.Error(err)
	} else {
		again()
	}
	if len(f.busy) != 0 {
		t.Errorf("still busy: %v", f.busy)
	}
}
