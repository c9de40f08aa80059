package shellscan

import (
	"bufio"
	"encoding/json"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

var repeat = regexp.MustCompile(`\$\{([^{}]*)\*([0-9]+)\}`)

// TestCases judges every shell case as far as the text alone and a toy rule
// matcher can. testdata/cases.jsonl is data: one case a line.
func TestCases(t *testing.T) {
	f, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	judged := map[string]int{}
	for lines.Scan() {
		var c struct {
			ID, Title, Command, Toggle string
			Rules                      []string
			Expected                   struct{ Decision string }
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		text := repeat.ReplaceAllStringFunc(c.Command, func(s string) string {
			m := repeat.FindStringSubmatch(s)
			n, _ := strconv.Atoi(m[2])
			return strings.Repeat(m[1], n)
		})
		got := Scan(text)
		allowed := got.Class == permissions.Simple && covered(got.Operands, c.Rules)
		judged[c.Expected.Decision]++
		switch {
		case c.Toggle != "" || c.Expected.Decision == "":
			// A tool that is off, and cases about running: nothing for a scan to say.
		case c.Expected.Decision == "must_allow" && !allowed, c.Expected.Decision == "must_ask" && allowed:
			t.Errorf("%s (%s): %.60q: want %s, got %s %s %+v", c.ID, c.Title, text, c.Expected.Decision, got.Class, got.Why, got.Operands)
		case c.Expected.Decision == "may_allow" && got.Class != permissions.Simple:
			t.Errorf("%s (%s): %q is not simple: %s", c.ID, c.Title, text, got.Why)
		}
		check(t, got)
	}
	if judged["must_ask"] < 80 || judged["must_allow"] < 6 {
		t.Fatalf("only these were judged: %v", judged)
	}
}

// covered is the little of the path rules that the cases need: rules are
// "R:./p/**" or "RW:./p/**", and p/link and p/dlink lead out.
func covered(operands []permissions.Operand, rules []string) bool {
	for _, o := range operands {
		p := path.Clean(o.Text)
		ok := false
		for _, rule := range rules {
			access, _, _ := strings.Cut(rule, ":")
			inside := strings.HasPrefix(p, "p/") || p == "p" && o.Op.Access() == "R"
			ok = ok || strings.Contains(access, o.Op.Access()) && inside
		}
		if !ok || p == "p/link" || p == "p/dlink" {
			return false
		}
	}
	return true
}

// check holds for every result.
func check(t *testing.T, c permissions.Command) {
	t.Helper()
	simple := c.Class == permissions.Simple
	switch {
	case c.Class != permissions.Simple && c.Class != permissions.Unmodelled && c.Class != permissions.Ambiguous:
		t.Errorf("%q: class %q", c.Text, c.Class)
	case simple != (c.Why == ""), simple && len(c.Marks) > 0:
		t.Errorf("%q: %s with why %q and marks %v", c.Text, c.Class, c.Why, c.Marks)
	case (c.Class == permissions.Ambiguous) != (c.Argv == nil):
		t.Errorf("%q: %s with argv %q", c.Text, c.Class, c.Argv)
	case !simple && len(c.Operands) > 0:
		t.Errorf("%q: %s with operands", c.Text, c.Class)
	case !simple && c.Text != "" && len(c.Marks) == 0:
		t.Errorf("%q: no marks for %q", c.Text, c.Why)
	}
	last := 0
	for i, m := range c.Marks {
		if m.Start < last || m.End <= m.Start || m.End > len(c.Text) || i > 0 && m.Start == last {
			t.Errorf("%q: marks %v", c.Text, c.Marks)
		}
		last = m.End
	}
	for _, a := range c.Argv {
		if strings.ContainsAny(a, "\x00\n\r") {
			t.Errorf("%q: argv %q", c.Text, c.Argv)
		}
	}
}
