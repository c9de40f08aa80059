package localserver

import (
	"fmt"
	"testing"
	"time"
)

// TestManyToolsAtOnce sets a thousand tools with one save, new ones and known
// ones. Saving each by itself would take more than a thousand times as long as
// one, as the file grows.
func TestManyToolsAtOnce(t *testing.T) {
	r := newRig(t)
	save := func(tools map[string]toolSetting) time.Duration {
		p := do[permissionsView](r, "GET", "/api/permissions", nil)
		p.Tools = tools
		start := time.Now()
		do[permissionsView](r, "PUT", "/api/permissions", p)
		return time.Since(start)
	}
	one := save(map[string]toolSetting{"read_file": {"allow", true}})
	for _, want := range []toolSetting{{"allow", true}, {"deny", true}, {"ask", false}} {
		all := map[string]toolSetting{}
		for i := range 1000 {
			all[fmt.Sprintf("mcp_big_tool_%d", i)] = want
		}
		if took := save(all); took > 400*one+2*time.Second {
			t.Errorf("a thousand tools took %v, one takes %v", took, one)
		}
		got := do[permissionsView](r, "GET", "/api/permissions", nil).Tools
		for name := range all {
			if got[name] != want {
				t.Fatalf("%s is %+v, want %+v", name, got[name], want)
			}
		}
		if got["read_file"].Mode != "allow" {
			t.Error("a tool that was not part of it changed")
		}
	}
}
