package tools

import (
	"regexp"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func TestNames(t *testing.T) {
	svc, srv := permissions.OriginService, permissions.OriginServer
	tests := []struct {
		name string
		defs []Definition
		want []string // "" for a clash; a trailing "-*" stands for a suffix
	}{
		{"service", []Definition{{svc, "browser_service", "browser_navigate"}}, []string{"mcp_browser_service_browser_navigate"}},
		{"server", []Definition{{srv, "filesystem", "read_file"}}, []string{"filesystem__read_file"}},
		{"two that meet are both suffixed", []Definition{{svc, "a_b", "c"}, {svc, "a", "b_c"}}, []string{"mcp_a_b_c-*", "mcp_a_b_c-*"}},
		{"dots and spaces", []Definition{{srv, "git hub", "issue.get"}}, []string{"git-hub__issue-get-*"}},
		{"emoji counts as one character", []Definition{{srv, "s", "go🚀"}}, []string{"s__go--*"}},
		{"starts with a digit", []Definition{{srv, "1pass", "get"}}, []string{"x1pass__get-*"}},
		{"too long", []Definition{{srv, "s", strings.Repeat("t", 200)}}, []string{"s__" + strings.Repeat("t", 52) + "-*"}},
		{"64 is fine", []Definition{{srv, "s", strings.Repeat("t", 61)}}, []string{"s__" + strings.Repeat("t", 61)}},
		{"looks suffixed", []Definition{{srv, "s", "x-0123abcd"}}, []string{"s__x-0123abcd-*"}},
		{"the same definition twice is one", []Definition{{srv, "s", "t"}, {srv, "s", "t"}}, []string{"s__t", "s__t"}},
		{"a local tool's name is never given away", []Definition{{srv, "read", "file"}}, []string{"read__file-*"}},
		{"empty tool name", []Definition{{srv, "s", ""}}, []string{"s__"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names, _ := Names(tt.defs, []string{"read__file"})
			seen := map[string]Definition{}
			for i, d := range tt.defs {
				got := names[d]
				want := tt.want[i]
				if stem, ok := strings.CutSuffix(want, "-*"); ok {
					if !strings.HasPrefix(got, stem+"-") || len(got) != len(stem)+9 {
						t.Errorf("Names(%v) = %q, want %q and a suffix", d, got, stem)
					}
				} else if got != want {
					t.Errorf("Names(%v) = %q, want %q", d, got, want)
				}
				if !validName.MatchString(got) {
					t.Errorf("Names(%v) = %q, which providers refuse", d, got)
				}
				if other, ok := seen[got]; ok && other != d {
					t.Errorf("%v and %v share %q", d, other, got)
				}
				seen[got] = d
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a_b", "c", "a", "b_c")
	f.Add("", "", "\x00", "-")
	f.Fuzz(func(t *testing.T, s1, t1, s2, t2 string) {
		defs := []Definition{{permissions.OriginService, s1, t1}, {permissions.OriginServer, s2, t2}, {permissions.OriginService, s2, t2}}
		names, clashes := Names(defs, []string{"read_file"})
		seen := map[string]bool{}
		for d, n := range names {
			if !validName.MatchString(n) || seen[n] || n == "read_file" {
				t.Errorf("Names gave %v the name %q", d, n)
			}
			seen[n] = true
		}
		if len(names)+len(clashes) < 2 {
			t.Errorf("%d names and %d clashes for %v", len(names), len(clashes), defs)
		}
	})
}
