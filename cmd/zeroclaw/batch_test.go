package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestBatchLongLines: a line of some MiB gets a verdict as any other, and one
// beyond the limit costs only its own.
func TestBatchLongLines(t *testing.T) {
	root := t.TempDir()
	line := func(path string) string {
		text, err := json.Marshal(map[string]any{"root": root, "home": root, "rules": []string{"R:./**"}, "op": "read", "path": path})
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	}
	long := "./" + strings.Repeat("a/../", 500_000) + "x"
	in := io.MultiReader(
		strings.NewReader(line("./a")+line(long)),
		strings.NewReader(strings.Repeat(" ", maxBatchLine+1)), strings.NewReader(line("./b")),
		strings.NewReader("\n"+strings.TrimSpace(line("./c"))),
	)
	var out bytes.Buffer
	if err := explainBatch(in, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for d := json.NewDecoder(&out); d.More(); {
		var a struct{ Verdict, Reason string }
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		got = append(got, a.Verdict)
		if a.Verdict == "error" && !strings.Contains(a.Reason, "longer than") && !strings.Contains(a.Reason, "cannot be used") {
			t.Errorf("an error says %.200q", a.Reason)
		}
	}
	if len(got) != 4 || got[0] != "allow" || got[1] != "error" || got[2] != "error" || got[3] != "allow" {
		t.Errorf("verdicts are %v, want allow, error, error, allow", got)
	}
}
