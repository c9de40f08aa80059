package files

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// BenchmarkP8 compares each tool, from its arguments to its answer as JSON,
// with the shortest Go loop that does the same work, run in turns in the same
// process. The metric "ratio" is ours divided by the loop's.
func BenchmarkP8(b *testing.B) {
	g := newGate(b, "R:./**")
	makeP8Tree(b, g)
	for _, c := range []struct {
		name, tool string
		args       string
		min        int // bytes of an answer that was not cut
		loop       func() error
	}{
		{"read1MB", "read_file", `{"path":"1mb.txt","max_bytes":16777216,"max_lines":1000000}`, 1 << 20, func() error { return bareRead(g.path("1mb.txt")) }},
		{"read10MB", "read_file", `{"path":"10mb.txt","max_bytes":16777216,"max_lines":1000000}`, 10 << 20, func() error { return bareRead(g.path("10mb.txt")) }},
		{"list10k", "list_directory", `{"path":"flat"}`, 20_000, func() error { _, err := os.ReadDir(g.path("flat")); return err }},
		{"list10kOnePage", "list_directory", `{"path":"flat","limit":10000}`, 200_000, func() error { return bareList(g.path("flat")) }},
		{"search20k", "search_files", `{"glob":"**/*needle*"}`, 1000, func() error { return bareSearch(g.root) }},
		{"grep20k", "search_files", `{"query":"needle"}`, 1000, func() error { return bareGrep(g.root) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			tool := g.tool(c.tool)
			// The fastest of each: what the machine does beside hits both, but not
			// evenly.
			ours, bare := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				from := time.Now()
				if err := c.loop(); err != nil {
					b.Fatal(err)
				}
				bare = min(bare, time.Since(from))
				from = time.Now()
				n, err := p8Call(g, tool, c.args)
				ours = min(ours, time.Since(from))
				if err != nil || n < c.min {
					b.Fatalf("answer of %d bytes, %v", n, err)
				}
			}
			b.ReportMetric(float64(ours)/float64(bare), "ratio")
			b.ReportMetric(float64(bare.Microseconds()), "loop-µs")
		})
	}
}

func p8Call(g *gate, tool tools.Planner, args string) (int, error) {
	plan, err := tool.Plan(context.Background(), json.RawMessage(args))
	if err != nil {
		return 0, err
	}
	var paths []permissions.Path
	for _, u := range plan.Uses {
		paths = append(paths, g.r.Path(u.Path, u.Op, u.Walk))
	}
	r, err := tool.Run(g.pass(tool.Spec().Name, paths), json.RawMessage(args))
	if err != nil {
		return 0, err
	}
	answer, err := json.Marshal(struct {
		Content    []tools.Content
		Structured json.RawMessage
	}{r.Content, r.Structured})
	return len(answer), err
}

func bareRead(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = json.Marshal(string(data))
	return err
}

func bareList(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	type one struct {
		Name     string
		Dir      bool
		Size     int64
		Modified time.Time
	}
	var out []one
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			return err
		}
		out = append(out, one{e.Name(), e.IsDir(), fi.Size(), fi.ModTime()})
	}
	_, err = json.Marshal(out)
	return err
}

func bareSearch(root string) error {
	found := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(p), "needle") {
			found++
		}
		return err
	})
	if err == nil && found != 100 {
		err = fmt.Errorf("found %d", found)
	}
	return err
}

func bareGrep(root string) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		_ = strings.Contains(string(data), "needle")
		return err
	})
}

func makeP8Tree(b *testing.B, g *gate) {
	b.Helper()
	line := strings.Repeat("abcdefghij klmnopqrs ", 3) + "\n"
	g.write("1mb.txt", strings.Repeat(line, 1<<20/len(line)))
	g.write("10mb.txt", strings.Repeat(line, 10<<20/len(line)))
	for i := range 10_000 {
		g.write(fmt.Sprintf("flat/file_%05d.txt", i), "")
	}
	for d := range 100 {
		for i := range 100 {
			name := fmt.Sprintf("f%03d.go", i)
			if i == 50 {
				name = "needle.go"
			}
			g.write(fmt.Sprintf("d%02d/s%02d/%s", d/10, d%10, name), map[bool]string{true: "needle\n"}[i == 50])
		}
	}
}
