package permissions

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseRules(t *testing.T) {
	tests := []struct {
		line   string
		prefix string
		rest   []string
		read   bool
		write  bool
	}{
		{"R:./docs/**", "./docs", []string{"**"}, true, false},
		{"  RW:docs/**  ", "./docs", []string{"**"}, true, true},
		{"W:/etc/hosts", "/etc/hosts", nil, false, true},
		{"R:~/x/*.md", "~/x", []string{"*.md"}, true, false},
		{"R:~", "~/", nil, true, false},
		{"R:~/", "~/", nil, true, false},
		{"R:~/**", "~/", []string{"**"}, true, false},
		{"R:~bob/x", "./~bob/x", nil, true, false},
		{"R:./**", ".", []string{"**"}, true, false},
		{"R:**", ".", []string{"**"}, true, false},
		{"R:.", ".", nil, true, false},
		{"R:/", "/", nil, true, false},
		{"R:/**", "/", []string{"**"}, true, false},
		{"R:../x/**", "../x", []string{"**"}, true, false},
		{"R:../../x", "../../x", nil, true, false},
		{"R:./a/../b/**", "./b", []string{"**"}, true, false},
		{"R:./a/../../b", "../b", nil, true, false},
		{"R:/../etc", "/etc", nil, true, false},
		{"R:~/../x", "~/../x", nil, true, false},
		{"R:a//b/./c/", "./a/b/c", nil, true, false},
		{"R:./a/*/b/./c*d", "./a", []string{"*", "b", "c*d"}, true, false},
		{"R:./a/**/**/b", "./a", []string{"**", "b"}, true, false},
		{"R:./[slug]/{x}/a?b/**", "./[slug]/{x}/a?b", []string{"**"}, true, false},
		{"R: ./spaced out/x", "./spaced out/x", nil, true, false},
		{"R:./a:b", "./a:b", nil, true, false},
		{"R:./\ufffdff\ufffdfe/x", "./\xff\xfe/x", nil, true, false},
		{"R:\tx\r", "./x", nil, true, false},
		{"R:./a*b*c*d*e*f*g*h*i", ".", []string{"a*b*c*d*e*f*g*h*i"}, true, false},
		{"R:./" + strings.Repeat("x", 255), "./" + strings.Repeat("x", 255), nil, true, false},
		{`R:./a\b`, `./a\b`, nil, true, false},
		{"R:C:/x", "./C:/x", nil, true, false},
	}
	for _, tt := range tests {
		rules, bad := parseRules([]string{tt.line}, false)
		if len(bad) > 0 || len(rules) != 1 {
			t.Errorf("parseRules(%q) = %v, %v, want one rule", tt.line, rules, bad)
			continue
		}
		r := rules[0]
		var rest []string
		for _, s := range r.rest {
			rest = append(rest, s.text)
		}
		if r.Prefix() != tt.prefix || !slices.Equal(rest, tt.rest) || r.Read != tt.read || r.Write != tt.write {
			t.Errorf("parseRules(%q) = prefix %q, rest %q, R %v, W %v; want %q, %q, %v, %v",
				tt.line, r.Prefix(), rest, r.Read, r.Write, tt.prefix, tt.rest, tt.read, tt.write)
		}
	}
}

func TestParseRulesInvalid(t *testing.T) {
	tests := []struct{ line, code string }{
		{"./x", "grammar"},
		{"X:./p", "grammar"},
		{"r:./p", "grammar"},
		{"Rw:./p", "grammar"},
		{"WR:./p/**", "grammar"},
		{"R ./p", "grammar"},
		{"R :./p", "grammar"},
		{"RR:./p", "grammar"},
		{"!R:./p", "grammar"},
		{"R", "grammar"},
		{"R:", "empty"},
		{"R:   ", "empty"},
		{"R:./p**", "glued_stars"},
		{"R:./**p", "glued_stars"},
		{"R:./***", "glued_stars"},
		{"R:./a**b/c", "glued_stars"},
		{"R:./p/** # c", "glued_stars"},
		{"R:./*/../x", "dots_after_wildcard"},
		{"R:./**/..", "dots_after_wildcard"},
		{"R:./a\x00b", "control_character"},
		{"R:./a\x1bb", "control_character"},
		{"R:./a\u0085b", "control_character"},
		{"R:./\xff", "encoding"},
		{"R:./*" + strings.Repeat("a*", 9), "too_many_stars"},
		{"R:./" + strings.Repeat("x", 256), "long_name"},
		{"R:./*/" + strings.Repeat("x", 256), "long_name"},
		{"R:./" + strings.Repeat("a/", 3000), "too_long"},
	}
	for _, tt := range tests {
		rules, bad := parseRules([]string{"# fine", "", tt.line, "R:./ok"}, false)
		if len(bad) != 1 || bad[0].Code != tt.code || bad[0].Line != 3 || bad[0].Message == "" {
			t.Errorf("parseRules(%q): bad = %+v, want code %q at line 3", tt.line, bad, tt.code)
		}
		if len(rules) != 1 || rules[0].Line != 4 {
			t.Errorf("parseRules(%q): rules = %+v, want the good one at line 4", tt.line, rules)
		}
	}
}

func TestParseRulesWindows(t *testing.T) {
	for line, want := range map[string]string{
		`RW:c:\Users\me\p\**`: "C:/Users/me/p",
		`R:C:/`:               "C:/",
		`R:C:/../x`:           "C:/x",
		`R:..\x`:              "../x",
		`R:.\docs\*.md`:       "./docs",
		`R:~\x`:               "~/x",
	} {
		rules, bad := parseRules([]string{line}, true)
		if len(bad) > 0 || rules[0].Prefix() != want {
			t.Errorf("parseRules(%q) on Windows = %v, %v; want prefix %q", line, rules, bad, want)
		}
	}
	for line, code := range map[string]string{
		`R:\\server\share\**`: "network_path", `R://server/x`: "network_path", `R:\\?\C:\x`: "network_path",
		`R:C:x`: "drive_relative", `R:C:`: "drive_relative", `R:C:*`: "drive_relative",
	} {
		if _, bad := parseRules([]string{line}, true); len(bad) != 1 || bad[0].Code != code {
			t.Errorf("parseRules(%q) on Windows: bad = %+v, want %q", line, bad, code)
		}
	}
}

func TestParseRulesLines(t *testing.T) {
	rules, bad := ParseRules([]string{"R:./a\nX:./b\n", "\r\n", "  # c", "W:./d"})
	if len(rules) != 2 || rules[0].Line != 1 || rules[1].Line != 5 || len(bad) != 1 || bad[0].Line != 2 {
		t.Errorf("ParseRules: rules %+v, bad %+v; want lines 1 and 5, and 2", rules, bad)
	}
}

// anchored parses one rule and hangs relative ones from /r, home ones from /h.
func anchored(t testing.TB, line string) Anchored {
	t.Helper()
	rules, bad := ParseRules([]string{line})
	if len(bad) > 0 {
		t.Fatalf("ParseRules(%q): %v", line, bad)
	}
	p := rules[0].Prefix()
	base := p
	switch {
	case strings.HasPrefix(p, "~/"):
		base = strings.TrimSuffix("/h/"+p[2:], "/")
	case p == ".":
		base = "/r"
	case strings.HasPrefix(p, "./"):
		base = "/r/" + p[2:]
	case strings.HasPrefix(p, "../"):
		base = "/" + p[3:]
	}
	return Anchored{Rule: rules[0], Base: base, Status: RuleActive}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		rule string
		op   Op
		path string
		want bool
	}{
		{"R:./p/**", OpRead, "/r/p/a/b", true},
		{"R:./p/**", OpRead, "/r/p", true},
		{"R:./p/**", OpList, "/r/p", true},
		{"R:./p/**", OpWrite, "/r/p/a", false},
		{"R:./p/**", OpRead, "/r/pp/x", false},
		{"R:./p/**", OpRead, "/r/p/../etc/passwd", false},
		{"R:./p/**", OpRead, "/r", false},
		{"W:./p/**", OpWrite, "/r/p/a", true},
		{"W:./p/**", OpDelete, "/r/p/a/b", true},
		{"W:./p/**", OpWrite, "/r/p", false},
		{"W:./p/**", OpDelete, "/r/p", false},
		{"W:./p/**", OpRead, "/r/p/a", false},
		{"RW:./p/**", OpRead, "/r/p/a", true},
		{"RW:./p", OpDelete, "/r/p", true},
		{"R:./p", OpRead, "/r/p", true},
		{"R:./p", OpRead, "/r/p/a", false},
		{"R:./p/*", OpRead, "/r/p/a", true},
		{"R:./p/*", OpRead, "/r/p/.hidden", true},
		{"R:./p/*", OpRead, "/r/p/a/b", false},
		{"R:./p/*", OpList, "/r/p", false},
		{"R:./p/*.go", OpRead, "/r/p/x.go", true},
		{"R:./p/*.go", OpRead, "/r/p/.go", true},
		{"R:./p/*.go", OpRead, "/r/p/x.goo", false},
		{"R:./p/*.go", OpRead, "/r/p/a/x.go", false},
		{"R:./p/**/x", OpRead, "/r/p/x", true},
		{"R:./p/**/x", OpRead, "/r/p/a/b/x", true},
		{"R:./p/**/x", OpRead, "/r/p/a/b/xx", false},
		{"W:./p/**/x", OpWrite, "/r/p/x", true},
		{"R:./**/a/**/b", OpRead, "/r/a/a/b/b", true},
		{"W:./*/**", OpWrite, "/r/a", false},
		{"W:./*/**", OpWrite, "/r/a/b", true},
		{"R:./**/*", OpRead, "/r", false},
		{"R:./**/*", OpRead, "/r/a", true},
		{"R:./[a]/x", OpRead, "/r/a/x", false},
		{"R:./[a]/*", OpRead, "/r/[a]/x", true},
		{"R:./[ab]*", OpRead, "/r/a", false},
		{"R:./{a,b}*", OpRead, "/r/ax", false},
		{"R:./{a,b}*", OpRead, "/r/{a,b}x", true},
		{"R:./a?*", OpRead, "/r/abc", false},
		{"R:./a?*", OpRead, "/r/a?c", true},
		{`R:./a\*`, OpRead, `/r/a\x`, true},
		{"R:/**", OpRead, "/etc/passwd", true},
		{"R:/**", OpList, "/", true},
		{"W:/**", OpWrite, "/", false},
		{"R:/*", OpRead, "/etc", true},
		{"R:~/**", OpRead, "/h/x", true},
		{"R:../x/**", OpRead, "/x/y", true},
		{"R:./**", OpRead, "/x/y", false},
		{"R:./a*", OpRead, "/r/a\xff", true},
		{"R:./*\ufffdff", OpRead, "/r/a\xff", true},
		{"R:./*\ufffdff", OpRead, "/r/a\xfe", false},
		{"R:./*\ufffdff", OpRead, "/r/a\ufffd", false},
		{"R:./\ufffdff", OpRead, "/r/\xff", true},
		{"R:./a*", OpRead, "/r/a" + strings.Repeat("x", 255), false},
		{"R:./P/**", OpRead, "/r/p/a", false},
		{"R:./caf\u00e9/**", OpRead, "/r/cafe\u0301/x", false},
		{"R:./p/**", "look", "/r/p/a", false},
		{"RW:./p/**", "", "/r/p/a", false},
	}
	for _, tt := range tests {
		a := anchored(t, tt.rule)
		if got := a.Covers(Path{Op: tt.op, Real: tt.path}); got != tt.want {
			t.Errorf("%s covers %s of %q = %v, want %v", tt.rule, tt.op, tt.path, got, tt.want)
		}
		for _, s := range []RuleStatus{RuleMoved, RuleElsewhere, RuleInvalid, ""} {
			a.Status = s
			if a.Covers(Path{Op: tt.op, Real: tt.path}) {
				t.Errorf("%s with status %q covers %q", tt.rule, s, tt.path)
			}
		}
	}
}

// peer bug B11: drive letters and case are told apart where the volume does not.
func TestCoversFolding(t *testing.T) {
	tests := []struct {
		rule, path string
		fold, nfc  bool
	}{
		{"R:./P/*.TXT", "/R/p/a.txt", true, false},
		{"R:./stra\u00dfe*", "/r/STRA\u1e9eEx", true, false},
		{"R:./\u212a*", "/r/kx", true, false},
		{"R:./caf\u00e9/**", "/r/cafe\u0301/x", false, true},
		{"R:./CAF\u00c9*", "/r/cafe\u0301x", true, true},
	}
	for _, tt := range tests {
		for v := range 4 {
			fold, nfc := v&1 != 0, v&2 != 0
			a := anchored(t, tt.rule)
			a.Fold, a.NFC = fold, nfc
			p := Path{Op: OpRead, Real: tt.path, Fold: fold, NFC: nfc}
			want := (fold || !tt.fold) && (nfc || !tt.nfc)
			if got := a.Covers(p); got != want {
				t.Errorf("%s covers %q (fold %v, nfc %v) = %v, want %v", tt.rule, tt.path, fold, nfc, got, want)
			}
			p.Fold, p.NFC = !fold, !nfc
			if (tt.fold || tt.nfc) && a.Covers(p) && (fold && tt.fold || nfc && tt.nfc) {
				t.Errorf("%s covers %q although only one of the volumes folds", tt.rule, tt.path)
			}
		}
	}
}

func TestCoversTree(t *testing.T) {
	tests := []struct {
		rule string
		op   Op
		path string
		want bool
	}{
		{"R:./p/**", OpList, "/r/p", true},
		{"R:./p/**", OpList, "/r/p/a", true},
		{"R:./p/*", OpList, "/r/p", false},
		{"R:./p/*/**", OpList, "/r/p", false},
		{"R:./p/*/**", OpList, "/r/p/a/b", true},
		{"R:./p/**/x", OpList, "/r/p", false},
		{"R:./p", OpList, "/r/p", false},
		{"W:./p/**", OpList, "/r/p", false},
		{"W:./p/**", OpDelete, "/r/p", true},
	}
	for _, tt := range tests {
		if got := anchored(t, tt.rule).CoversTree(Path{Op: tt.op, Real: tt.path}); got != tt.want {
			t.Errorf("%s covers the tree of %q for %s = %v, want %v", tt.rule, tt.path, tt.op, got, tt.want)
		}
	}
}

// TestCoversTime keeps the worst patterns we could find below a bound that a
// slow machine still meets.
func TestCoversTime(t *testing.T) {
	longest := strings.Repeat("a", 254) + "b"
	deep := strings.Repeat("/a", 2000)
	for _, tt := range []struct{ rule, path string }{
		{"R:./*a*a*a*a*a*a*c*b", "/r/" + longest},
		{"R:./*a*aa*a*aa*a*ac*b", "/r/" + longest},
		{"R:./" + strings.Repeat("**/a/", 15) + "b", "/r" + deep},
		{"R:./" + strings.Repeat("*a*/", 15) + "**", "/r" + deep},
		{"R:./**/" + strings.Repeat("*a*/", 15) + "b", "/r" + deep},
	} {
		a := anchored(t, tt.rule)
		start := time.Now()
		a.Covers(Path{Op: OpRead, Real: tt.path})
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%.30s… took %v", tt.rule, d)
		} else {
			t.Logf("%.30s… took %v", tt.rule, d)
		}
	}
}

func TestEncodePath(t *testing.T) {
	for in, want := range map[string]string{
		"plain/ü": "plain/ü", "\xff\xfe": "\ufffdff\ufffdfe", "a\xc3/b": "a\ufffdc3/b",
		"\ufffd": "\ufffdef\ufffdbf\ufffdbd", "\ufffdff": "\ufffdef\ufffdbf\ufffdbdff",
	} {
		if got := EncodePath(in); got != want {
			t.Errorf("EncodePath(%q) = %q, want %q", in, got, want)
		}
		if got := DecodePath(want); got != in {
			t.Errorf("DecodePath(%q) = %q, want %q", want, got, in)
		}
	}
	for _, same := range []string{"\ufffd", "\ufffd2f", "\ufffd00", "\ufffd7f", "\ufffdzz", "\ufffd+f", "x\ufffdf", "\ufffd-f"} {
		if got := DecodePath(same); got != same {
			t.Errorf("DecodePath(%q) = %q, want it unchanged", same, got)
		}
	}
}

func TestVisible(t *testing.T) {
	if got, want := Visible("a\nb\x1b\u202e\"c\\\xff"), `a\nb\x1b\u202e"c\`+"\ufffdff"; got != want {
		t.Errorf("Visible = %q, want %q", got, want)
	}
}
