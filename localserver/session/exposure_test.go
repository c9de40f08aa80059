package session

import "testing"

func TestExposure(t *testing.T) {
	browse := FilterGroup{Tools: []string{"b__*"}, Keywords: []string{"Browse", " "}}
	always := FilterGroup{Always: true, Tools: []string{"fs__read", "x*y"}}
	never := FilterGroup{Tools: []string{"*"}}
	tests := []struct {
		name      string
		e         Exposure
		message   string
		tool      string
		remote    bool
		activated bool
		want      shown
	}{
		{"no groups", Exposure{}, "hi", "b__go", true, false, complete},
		{"keyword in any case", Exposure{Groups: []FilterGroup{browse}}, "please browse", "b__go", true, false, complete},
		{"no keyword", Exposure{Groups: []FilterGroup{browse}}, "hi", "b__go", true, false, hidden},
		{"in no group", Exposure{Groups: []FilterGroup{browse}}, "please browse", "fs__read", true, false, hidden},
		{"local tools always", Exposure{Groups: []FilterGroup{browse}}, "hi", "read_file", false, false, complete},
		{"always", Exposure{Groups: []FilterGroup{always}}, "", "fs__read", true, false, complete},
		{"star in the middle", Exposure{Groups: []FilterGroup{always}}, "", "xzzy", true, false, complete},
		{"star does not overlap", Exposure{Groups: []FilterGroup{{Always: true, Tools: []string{"ab*ba"}}}}, "", "aba", true, false, hidden},
		{"case counts", Exposure{Groups: []FilterGroup{always}}, "", "FS__read", true, false, hidden},
		{"dynamic without keywords", Exposure{Groups: []FilterGroup{never}}, "anything", "b__go", true, false, hidden},
		{"blank keyword calls for nothing", Exposure{Groups: []FilterGroup{browse}}, " ", "b__go", true, false, hidden},
		{"deferred", Exposure{Deferred: true}, "hi", "b__go", true, false, listed},
		{"deferred and found", Exposure{Deferred: true}, "hi", "b__go", true, true, complete},
		{"deferred, brought forward", Exposure{Deferred: true, Groups: []FilterGroup{always}}, "hi", "fs__read", true, false, complete},
		{"deferred, called for", Exposure{Deferred: true, Groups: []FilterGroup{browse}}, "browse", "b__go", true, false, complete},
		{"deferred, not called for", Exposure{Deferred: true, Groups: []FilterGroup{browse}}, "hi", "b__go", true, false, listed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.e.in(tt.message, tt.tool, tt.remote, tt.activated); got != tt.want {
				t.Errorf("in(%q, %q) = %v, want %v", tt.message, tt.tool, got, tt.want)
			}
		})
	}
}
