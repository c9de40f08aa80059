package localserver

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// TestFoldersSayWhyNot names each reason for which a folder cannot be used, so
// that the page can say it in its own words.
func TestFoldersSayWhyNot(t *testing.T) {
	r := newRig(t)
	r.write("work/file", "x")
	r.write(".zeroclaw/x", "x")
	for _, tt := range []struct{ path, list, use string }{
		{filepath.Join(r.home, "nothing"), "no_folder", "no_folder"},
		{filepath.Join(r.home, "work", "file"), "not_folder", "not_folder"},
		{filepath.Join(r.home, ".zeroclaw"), "", "own_state"},
		{"relative", "bad_path", "bad_path"},
		{r.home, "", ""},
	} {
		_, listed := r.request("GET", "/api/folders?path="+url.QueryEscape(tt.path), nil)
		status, used := r.request("PUT", "/api/root", map[string]string{"path": tt.path})
		for what, got := range map[string][2]string{"listing": {listed, tt.list}, "using": {used, tt.use}} {
			if want := got[1]; strings.Contains(got[0], `"error"`) != (want != "") || want != "" && !strings.Contains(got[0], `"code":"`+want+`"`) {
				t.Errorf("%s %s answers %.200s, want %q", what, tt.path, got[0], want)
			}
		}
		if tt.use == "" && status != http.StatusOK {
			t.Errorf("using %s answers %d", tt.path, status)
		}
	}
}
