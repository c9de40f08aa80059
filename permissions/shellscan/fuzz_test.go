package shellscan

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// FuzzScan looks for texts that break what holds for every result.
func FuzzScan(f *testing.F) {
	cases, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	defer cases.Close()
	for lines := bufio.NewScanner(cases); lines.Scan(); {
		var c struct{ Command string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			f.Fatal(err)
		}
		f.Add(c.Command)
	}
	f.Add(`grep "a\\b$" 'c d' -rn`)
	f.Add("find ./p '(' -name '*.go' -o -newer x ')' -print")
	f.Fuzz(func(t *testing.T, text string) {
		c := Scan(text)
		check(t, c)
		if again := Scan(text); again.Class != c.Class || !slices.Equal(again.Words, c.Words) {
			t.Errorf("%q: two answers", text)
		}
		if c.Class == permissions.Ambiguous || len(text) > MaxBytes/8 {
			return
		}
		if joined := Scan(quoteAll(c.Argv)); joined.Class != c.Class || !slices.Equal(joined.Argv, c.Argv) || !slices.Equal(joined.Operands, c.Operands) {
			t.Errorf("%q: quoting every word changes %s %q to %s %q %s", text, c.Class, c.Argv, joined.Class, joined.Argv, joined.Why)
		}
		for _, a := range c.Argv {
			if a != "" && !slices.Contains(c.Words, a) && len(text) < 200 {
				t.Errorf("%q: %q is not among the words", text, a)
			}
		}
		for _, o := range c.Operands {
			if o.Text == "" || o.Text == "-" || o.Op == "" || strings.HasPrefix(o.Text, "~") {
				t.Errorf("%q: operand %+v", text, o)
			}
		}
	})
}

// quoteAll writes words so that they can only be read in one way.
func quoteAll(argv []string) string {
	var out []string
	for _, a := range argv {
		out = append(out, "'"+strings.ReplaceAll(a, "'", `'"'"'`)+"'")
	}
	return strings.Join(out, " ")
}
