package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of settings into docs/configuration.md")

const (
	docs       = "../../docs/configuration.md"
	tableBegin = "<!-- table made by: go test ./localserver/config -run Docs -update -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

// TestDocs keeps the table of docs/configuration.md equal to Fields.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", docs)
	}
	want := before + tableBegin + table() + tableEnd + after
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s is not what Fields says; run: go test ./localserver/config -run Docs -update", docs)
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("\n| setting | type | default | counts | what |\n|---|---|---|---|---|\n")
	for _, f := range Fields() {
		kind := string(f.Kind)
		if len(f.Enum) > 0 {
			kind = strings.Join(f.Enum, ", ")
		} else if f.Max > 0 {
			kind = fmt.Sprintf("%s %d–%d", f.Kind, f.Min, f.Max)
		}
		value := ""
		if f.Default != nil {
			value = fmt.Sprintf("`%v`", f.Default)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Path, kind, value, f.Applies, f.En)
	}
	b.WriteString("\n")
	return b.String()
}
