package permissions

import (
	"strings"
	"testing"
)

// A flag behind a file may be a second file. Where no rule covers that one, the
// question is about the flag; where the file is not covered either, about that.
func TestDecideFlagBehind(t *testing.T) {
	ask := func(lines ...string) Verdict {
		t.Helper()
		rules, bad := ParseRules(lines)
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		var s Settings
		for _, r := range rules {
			s.Rules = append(s.Rules, Anchored{Rule: r, Base: "/r" + strings.TrimPrefix(r.Prefix(), "."), Status: RuleActive})
		}
		c := Command{
			Text: "ls p -l", Class: Simple, Argv: []string{"ls", "p", "-l"}, Binary: "/bin/ls", CwdInRoot: true, Cwd: Path{Op: OpList, Real: "/r", Kind: KindDir},
			Operands: []Operand{{Text: "p", Op: OpList}, {Text: "-l", Op: OpList, Late: true}},
			Paths:    []Path{{Given: "p", Op: OpList, Real: "/r/p", Kind: KindDir, Spelled: "./p"}, {Given: "-l", Op: OpList, Real: "/r/-l", Spelled: "./-l"}},
		}
		return Decide(s, testGrant(t, Profile{}), Request{Tool: CommandTool, Origin: OriginLocal, Command: &c})
	}
	if v := ask("R:./p/**"); v.Decision != Ask || v.Key != KeyFlagBehind || !strings.Contains(v.Reason, `"-l"`) || strings.Contains(v.Reason, "/r/") || v.Proposed != nil {
		t.Errorf("only the flag is open: %+v", v)
	}
	if v := ask(); v.Decision != Ask || v.Key != KeyNotCovered {
		t.Errorf("the folder is open as well: %+v", v)
	}
	if v := ask("R:./**"); v.Decision != Allow {
		t.Errorf("both are covered: %+v", v)
	}
}
