package localserver

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsListErrorCodes keeps the table of codes in docs/api.md equal to what
// the code answers with.
func TestDocsListErrorCodes(t *testing.T) {
	doc, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "\n## Error codes\n")
	if !ok {
		t.Fatal("docs/api.md has no table of error codes")
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1) {
		listed[m[1]] = true
	}
	sets := regexp.MustCompile(`\bCode(?::| =) *"([a-z_]+)"`)
	var all strings.Builder
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		for _, m := range sets.FindAllStringSubmatch(string(text), -1) {
			if !listed[m[1]] {
				t.Errorf("%s answers with %s, which docs/api.md does not list", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for code := range listed {
		if !strings.Contains(all.String(), `"`+code+`"`) {
			t.Errorf("docs/api.md lists %s, which nothing answers with", code)
		}
	}
}
