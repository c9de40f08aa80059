package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"runtime"
	"strings"
	"testing"
	"time"
)

func TestReadWindows(t *testing.T) {
	g := newGate(t, "R:./**")
	g.write("f", "one\ntwo\r\nthree\nfour")
	type m = map[string]any
	for _, c := range []struct {
		args m
		text string
		want readResult // path, size, hash and encoding aside
	}{
		{m{}, "one\ntwo\r\nthree\nfour", readResult{StartLine: 1, EndLine: 4, Lines: 4, TotalLines: new(int64(4))}},
		{m{"max_lines": 2}, "one\ntwo\r\n", readResult{StartLine: 1, EndLine: 2, Lines: 2, Truncated: true, NextLine: 3}},
		{m{"start_line": 3, "max_lines": 1}, "three\n", readResult{StartLine: 3, EndLine: 3, Lines: 1, Truncated: true, NextLine: 4}},
		{m{"start_line": 2, "end_line": 3}, "two\r\nthree\n", readResult{StartLine: 2, EndLine: 3, Lines: 2, Truncated: true, NextLine: 4}},
		{m{"start_line": 4}, "four", readResult{StartLine: 4, EndLine: 4, Lines: 1, TotalLines: new(int64(4))}},
		{m{"start_line": 4, "end_line": 400}, "four", readResult{StartLine: 4, EndLine: 4, Lines: 1, TotalLines: new(int64(4))}},
		{m{"start_line": 5}, "", readResult{StartLine: 5, EndLine: 4, TotalLines: new(int64(4))}},
		{m{"start_line": 1 << 40}, "", readResult{StartLine: 1 << 40, EndLine: 1<<40 - 1, TotalLines: new(int64(4))}},
		{m{"start_line": 3, "start_column": 3}, "ree\nfour", readResult{StartLine: 3, EndLine: 4, Lines: 2, TotalLines: new(int64(4))}},
	} {
		c.args["path"] = "f"
		res := g.call("read_file", c.args)
		got := into[readResult](t, res)
		if got.Size != 19 || got.Encoding != "utf-8" || len(got.Hash) != 64 {
			t.Errorf("%v: %+v", c.args, got)
		}
		got.Size, got.Encoding, got.Hash, got.Path = 0, "", "", ""
		if fmt.Sprint(marshal(got)) != fmt.Sprint(marshal(c.want)) || res.Content[0].Text != c.text {
			t.Errorf("%v: %q %s, want %q %s", c.args, res.Content[0].Text, marshal(got), c.text, marshal(c.want))
		}
		if got.Truncated && !strings.Contains(res.Content[1].Text, fmt.Sprintf("start_line=%d", got.NextLine)) {
			t.Errorf("%v: note %q", c.args, res.Content[1].Text)
		}
	}
	g.write("empty", "")
	if r := into[readResult](t, g.call("read_file", map[string]any{"path": "empty"})); r.Lines != 0 || r.Truncated || r.EndLine != 0 {
		t.Errorf("empty file: %+v", r)
	}
	g.write("one", "a\n")
	if r := into[readResult](t, g.call("read_file", map[string]any{"path": "one"})); r.Lines != 1 || r.Truncated || *r.TotalLines != 1 {
		t.Errorf("one line: %+v", r)
	}
	g.fails("read_file", `{"path":"nothing"}`, "no file", "list_directory")
	g.fails("read_file", `{"path":"."}`, "folder", "list_directory")
	g.fails("read_file", `{"path":"f","start_line":3,"end_line":2}`, "before start_line")
	g.fails("read_file", `{"path":"f","start_line":0}`, `"start_line"`, "1 to")
	g.fails("read_file", `{"path":"f","start_line":true}`, `"start_line"`, "whole number")
	g.fails("read_file", `{"path":"f","start_line":1.5}`, `"start_line"`, "whole number")
	g.fails("read_file", `{"path":"f","start_line":null}`, `"start_line"`)
	g.fails("read_file", `{"path":"f","image":1}`, `"image"`, "true or false")
	g.fails("read_file", `{"path":"f","encoding":"x"}`, `"encoding"`, "start_line")
	if _, err := g.try("read_file", `{"path":"f","start_line":2.0}`); err != nil {
		t.Errorf("2.0 is an integer: %v", err)
	}
}

func TestReadEncodings(t *testing.T) {
	g := newGate(t, "R:./**")
	for _, c := range []struct{ name, data, enc, text string }{
		{"utf-8", "é😀\n", "utf-8", "é😀\n"},
		{"bom", "\ufeffé\n", "utf-8 with BOM", "é\n"},
		{"utf-16le", u16(encUTF16LE, "é😀\r\nx"), "utf-16le with BOM", "é😀\r\nx"},
		{"utf-16be", u16(encUTF16BE, "é😀\r\nx"), "utf-16be with BOM", "é😀\r\nx"},
		{"utf-16 odd", u16(encUTF16LE, "ab") + "x", "utf-16le with BOM", "ab\ufffd"},
		{"utf-16 half a pair", "\xff\xfe\x3d\xd8a\x00", "utf-16le with BOM", "\ufffda"},
		{"latin-1", "caf\xe9\n\x80", "latin-1", "café\n\u0080"},
		{"latin-1 late", strings.Repeat("x\n", 50_000) + "\xe9", "latin-1", strings.Repeat("x\n", 2000)},
		{"not utf-16", "\xff\xfex", "utf-16le with BOM", "\ufffd"},
	} {
		g.write("f", c.data)
		res := g.call("read_file", map[string]any{"path": "f"})
		if r := into[readResult](t, res); r.Encoding != c.enc || res.Content[0].Text != c.text {
			t.Errorf("%s: %q %.100q, want %q", c.name, r.Encoding, res.Content[0].Text, c.text)
		}
		if c.enc != "utf-8" && !strings.Contains(res.Content[len(res.Content)-1].Text, "Encoding: "+c.enc) {
			t.Errorf("%s: the text does not name the encoding: %q", c.name, res.Content[len(res.Content)-1].Text)
		}
	}
}

// TestReadNeverCutsCharacters reads long lines in pieces and puts them
// together again.
func TestReadNeverCutsCharacters(t *testing.T) {
	g := newGate(t, "R:./**")
	text := strings.Repeat("aé€😀", 500) + "\n" + strings.Repeat("😀", 100) + "\nend"
	for name, data := range map[string]string{
		"utf-8": text, "bom": "\ufeff" + text, "utf-16le": u16(encUTF16LE, text), "utf-16be": u16(encUTF16BE, text),
	} {
		g.write("f", data)
		for _, size := range []int{64, 65, 66, 67, 129, 1000} {
			var got strings.Builder
			args := map[string]any{"path": "f", "max_bytes": size}
			for pages := 0; ; pages++ {
				if pages > 500 {
					t.Fatalf("%s: no end", name)
				}
				res := g.call("read_file", args)
				r := into[readResult](t, res)
				got.WriteString(res.Content[0].Text)
				if !r.Truncated {
					break
				}
				args["start_line"], args["start_column"] = r.NextLine, max(r.NextColumn, 1)
			}
			if got.String() != text {
				t.Errorf("%s, %d bytes a page: the pages make another text", name, size)
			}
		}
	}
}

func TestReadBinary(t *testing.T) {
	g := newGate(t, "R:./**")
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
	for _, c := range []struct{ name, data, kind string }{
		{"png", png, "image/png"},
		{"elf", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60), "application/x-elf"},
		{"zip", "PK\x03\x04\x14\x00\x00\x00", "application/zip"},
		{"zeros", strings.Repeat("\x00", 1000), "application/octet-stream"},
		{"pdf", "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "application/pdf"},
		{"sqlite", "SQLite format 3\x00", "application/vnd.sqlite3"},
	} {
		g.write("f", c.data)
		g.fails("read_file", `{"path":"f"}`, "not text", c.kind, plural(int64(len(c.data)), "byte", "bytes"))
		// Nor from a later line on.
		g.fails("read_file", `{"path":"f","start_line":2}`, "not text")
	}
	g.write("log", "a\nb\n\x00\x00c\nd\n")
	res := g.call("read_file", map[string]any{"path": "log"})
	if r := into[readResult](t, res); res.Content[0].Text != "a\nb\n" || !r.Truncated || r.NextLine != 3 || !strings.Contains(res.Content[1].Text, "NUL") {
		t.Errorf("text with a NUL: %q, %+v", res.Content[0].Text, r)
	}
	res = g.call("read_file", map[string]any{"path": "log", "start_line": 4})
	if r := into[readResult](t, res); res.Content[0].Text != "d\n" || r.Truncated {
		t.Errorf("behind the NUL: %q, %+v", res.Content[0].Text, r)
	}

	g.write("f", png)
	res = g.call("read_file", map[string]any{"path": "f", "image": true})
	var item struct{ Type, Data, MimeType string }
	if err := json.Unmarshal(res.Content[0].Raw, &item); err != nil {
		t.Fatal(err)
	}
	if data, _ := base64.StdEncoding.DecodeString(item.Data); item.Type != "image" || item.MimeType != "image/png" || string(data) != png {
		t.Errorf("image = %+v", item)
	}
	g.write("f", "<svg xmlns='http://www.w3.org/2000/svg'/>")
	g.fails("read_file", `{"path":"f","image":true}`, "no PNG, JPEG, GIF or WebP")
	g.write("f", "")
	g.fails("read_file", `{"path":"f","image":true}`, "no PNG, JPEG, GIF or WebP")
}

// peakHeap runs f and returns by how much the heap grew at most meanwhile.
func peakHeap(f func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > before {
			peak = max(peak, m.HeapAlloc-before)
		}
		select {
		case <-done:
			return peak
		case <-time.After(time.Millisecond):
		}
	}
}

func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
}

// peer bug L9: a file of several GB is read into memory.
func TestReadHugeFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a sparse file may take real space")
	}
	g := newGate(t, "R:./**")
	var head strings.Builder
	for i := range 20 {
		fmt.Fprintf(&head, "line %d\n", i+1)
	}
	g.write("text3g", head.String())
	sparse(t, g.path("text3g"), 3<<30)
	sparse(t, g.path("zeros1t"), 1<<40)
	grown := peakHeap(func() {
		res := g.call("read_file", map[string]any{"path": "text3g", "start_line": 1, "end_line": 10})
		if r := into[readResult](t, res); r.Size != 3<<30 || r.Lines != 10 || !r.Truncated || r.NextLine != 11 || !strings.HasSuffix(res.Content[0].Text, "line 10\n") {
			t.Errorf("lines 1 to 10: %+v", r)
		}
		res = g.call("read_file", map[string]any{"path": "text3g"})
		if r := into[readResult](t, res); r.Lines != 20 || !r.Truncated || res.Content[0].Text != head.String() {
			t.Errorf("default: %+v", r)
		}
		g.fails("read_file", `{"path":"zeros1t"}`, "not text", "1,099,511,627,776 bytes")
		g.fails("read_file", `{"path":"zeros1t","start_line":1,"end_line":10}`, "not text")
		g.fails("edit_file", `{"path":"zeros1t","old_text":"a","new_text":"b"}`, "2 GiB")
	})
	if grown > 16<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	// Looking for a line in the far end of a large file ends with the call.
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	f, err := os.Open(g.path("text3g"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	from := time.Now()
	if _, err := readPage(ctx, f, 1<<40, window{line: 1 << 30, maxLines: 1, maxBytes: 100}, func(int64) {}); err == nil && time.Since(from) > 20*time.Second {
		t.Errorf("a cancelled read went on for %v", time.Since(from))
	}
}

func TestReadLargeFile(t *testing.T) {
	g := newGate(t, "R:./**")
	var b bytes.Buffer
	for i := 1; b.Len() < memoryLimit+1<<20; i++ {
		fmt.Fprintf(&b, "line %d é\n", i)
	}
	n := int64(bytes.Count(b.Bytes(), []byte("\n")))
	b.WriteString("\xe9 last")
	g.write("f", b.String())
	res := g.call("read_file", map[string]any{"path": "f", "start_line": n, "max_lines": 1})
	if r := into[readResult](t, res); res.Content[0].Text != fmt.Sprintf("line %d é\n", n) || r.Encoding != "utf-8" || r.Hash != "" {
		t.Errorf("page in the middle: %q %+v", res.Content[0].Text, r)
	}
	res = g.call("read_file", map[string]any{"path": "f", "start_line": n + 1})
	if r := into[readResult](t, res); res.Content[0].Text != "é last" || r.Encoding != "latin-1" || r.Truncated || *r.TotalLines != n+1 {
		t.Errorf("last page: %q %+v", res.Content[0].Text, r)
	}
	res = g.call("read_file", map[string]any{"path": "f", "max_bytes": 16 << 20, "max_lines": 1000000})
	if r := into[readResult](t, res); len(res.Content[0].Text) < b.Len() || r.Truncated || r.Encoding != "latin-1" {
		t.Errorf("whole: %+v", r)
	}
}

func TestReadPipesAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such files")
	}
	g := newGate(t, "R:/**")
	for _, p := range []string{"/dev/zero", "/dev/stdin"} {
		g.fails("read_file", `{"path":"`+p+`"}`, "")
	}
}
