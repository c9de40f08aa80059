package relay

import (
	"strings"
	"testing"
)

// FuzzTarget: whatever a page asks for, a request leaves only for the base
// address, below its path, without dot segments.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"chat/completions", "v1/messages", "models/a/b", "models/../x", "models/%2e%2e/x", "//evil.example/models", "models/a?b#c", "models/@evil"} {
		f.Add("POST", s, "a=b")
		f.Add("GET", s, "#x")
	}
	f.Fuzz(func(t *testing.T, method, rest, query string) {
		for _, p := range []Provider{{Kind: OpenAI, BaseURL: "https://api.example/base/v1"}, {Kind: Anthropic, BaseURL: "https://api.example/base"}} {
			u, fail := target(p, method, rest, query)
			if fail != nil {
				continue
			}
			again, err := u.Parse(u.String())
			if err != nil {
				// A query with control characters is refused when the request is made.
				continue
			}
			if again.Scheme != "https" || again.Host != "api.example" || again.User != nil || !strings.HasPrefix(again.Path, "/base/v1/") ||
				strings.Contains(again.Path+"/", "/../") || strings.Contains(again.Path+"/", "/./") || strings.Contains(again.Path, "//") {
				t.Fatalf("target(%q, %q, %q) = %s", method, rest, query, u)
			}
		}
	})
}
