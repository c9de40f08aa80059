package files

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestEditLargeFile edits a file that no one should hold in memory: 1 GB in
// the long run, 40 MB else.
func TestEditLargeFile(t *testing.T) {
	size := 40 << 20
	if os.Getenv("ZEROCLAW_LONG") != "" {
		size = 1 << 30
	}
	g := newGate(t, "RW:./**")
	g.files.cfg.MaxUndoBytes = 100 << 20
	f, err := os.Create(g.path("big"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	line := strings.Repeat("0123456789", 9) + "\r\n"
	half := size / 2 / len(line)
	for i := range 2 * half {
		if i == half {
			w.WriteString("the NEEDLE\r\nis here\r\n")
		}
		w.WriteString(line)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var r editResult
	grown := peakHeap(func() {
		r = into[editResult](t, g.call("edit_file", map[string]any{"path": "big", "old_text": "NEEDLE\nis", "new_text": "PIN\nwas\nand is"}))
	})
	if grown > 32<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	want := fmt.Sprintf("@@ -%d,8 +%d,9 @@", half-2, half-2)
	if !strings.Contains(r.Diff, want) || !strings.Contains(r.Diff, "-the NEEDLE\r\n-is here\r\n+the PIN\r\n+was\r\n+and is here\r\n") {
		t.Errorf("diff = %q, want %q in it", r.Diff, want)
	}
	if undo := r.UndoID != ""; undo != (size < 100<<20) {
		t.Errorf("undo id = %q, note = %q", r.UndoID, r.Note)
	}
	if f, err = os.Open(g.path("big")); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	buf := make([]byte, len(line))
	expect := func(want string) {
		b := buf[:0]
		if len(want) > cap(buf) {
			b = make([]byte, 0, len(want))
		}
		b = b[:len(want)]
		if _, err := io.ReadFull(in, b); err != nil || !bytes.Equal(b, []byte(want)) {
			t.Fatalf("found %q, %v, want %q", b, err, want)
		}
	}
	for i := range 2 * half {
		if i == half {
			expect("the PIN\r\nwas\r\nand is here\r\n")
		}
		expect(line)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("the file goes on: %v", err)
	}
}

func TestEditRefusesTooLarge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a sparse file may take real space")
	}
	g := newGate(t, "RW:./**")
	sparse(t, g.path("f"), maxEditSize+1)
	for _, args := range []string{`"old_text":"a","new_text":"b"`, `"mode":"append","content":"a"`, `"mode":"write","content":"a"`} {
		g.fails("edit_file", `{"path":"f",`+args+`}`, "2 GiB")
	}
	if fi, err := os.Stat(g.path("f")); err != nil || fi.Size() != maxEditSize+1 {
		t.Errorf("the file changed: %v, %v", fi, err)
	}
}
