package config

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRunIsAsOneByOne makes edits in one step and one by one: the values come
// out the same, and no line goes that was not to change.
func TestRunIsAsOneByOne(t *testing.T) {
	texts := map[string]string{
		"empty": "",
		"comments": "# top\n[permissions] # here\npolicy = \"ask\" # why\n\n# about a\n[permissions.tools.a]\nmode = 'deny' # single\n\n" +
			"[permissions.tools.b]\nenabled = false\n# last of b\n\n[server]\nport = 1\n# end",
		"CRLF":             "[permissions.tools.a]\r\nmode = \"ask\"\r\n[permissions.tools.c]\r\n",
		"no final newline": "[permissions.tools.a]\nmode = \"ask\"",
		"inline":           "[permissions.tools]\na = { mode = \"ask\" }\n",
		"dotted":           "permissions.tools.a.mode = \"ask\"\n[server]\n",
		"servers":          "[[mcp.servers]]\nname = \"a\"\n[permissions.tools.a]\nmode = \"ask\"\n",
	}
	runs := 0
	random := rand.New(rand.NewPCG(1, 2))
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				var edits []Edit
				for range minRun + random.IntN(30) {
					tool := string(rune('a' + random.IntN(26)))
					switch random.IntN(80) {
					case 0:
						edits = append(edits, Edit{Path: "permissions.policy", Value: "allow_all"})
					case 1:
						edits = append(edits, Edit{Path: "server.port", Value: 1 + random.IntN(9)})
					case 2:
						edits = append(edits, Edit{Op: Unset, Path: "permissions.tools." + tool + ".mode"})
					case 3:
						edits = append(edits, Edit{Path: "agents.x.risk_profile", Value: "careful"})
					case 4, 5, 6:
						edits = append(edits, Edit{Path: "permissions.tools." + tool + ".enabled", Value: random.IntN(2) == 0})
					default:
						edits = append(edits, Edit{Path: "permissions.tools." + tool + ".mode", Value: []string{"ask", "allow", "deny"}[random.IntN(3)]})
					}
				}
				f := open(t, folder(t, text))
				got, err := f.edit([]byte(text), edits)
				if err != nil {
					t.Fatalf("%v: %v", edits, err)
				}
				if doc, err := parse([]byte(text)); err != nil {
					t.Fatal(err)
				} else if _, n := f.applyRun(doc, edits); n > 0 {
					runs++
				}
				want := oneByOne(t, f, text, edits)
				if g, w := plainOf(t, got), plainOf(t, want); !same(g, w) {
					t.Fatalf("%v made %q\nof %q\none by one %q", edits, got, text, want)
				}
				for line := range strings.Lines(text) {
					if comment := strings.TrimSpace(line); strings.HasPrefix(comment, "#") && !strings.Contains(string(got), comment) {
						t.Errorf("the comment %q is gone from %q", comment, got)
					}
				}
				if strings.Contains(text, "\r\n") && strings.Count(string(got), "\n") != strings.Count(string(got), "\r\n") {
					t.Errorf("line ends are mixed in %q", got)
				}
			}
		})
	}
	if runs < 50 {
		t.Errorf("only %d times edits were made in one step", runs)
	}
}

func oneByOne(t *testing.T, f *File, text string, edits []Edit) []byte {
	t.Helper()
	data := []byte(text)
	for _, e := range edits {
		doc, err := parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if data, err = f.applyEdit(doc, e); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func plainOf(t *testing.T, data []byte) any {
	t.Helper()
	doc, err := parse(data)
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return prune(doc.root.plain())
}

// TestRunRefusesAsOneByOne: an edit that cannot be made is named, and none of
// the others is made.
func TestRunRefusesAsOneByOne(t *testing.T) {
	f := open(t, folder(t, ""))
	var edits []Edit
	for i := range 20 {
		edits = append(edits, Edit{Path: fmt.Sprintf("permissions.tools.t%d.mode", i), Value: "deny"})
	}
	edits[15].Value = "sometimes"
	if _, err := f.edit(nil, edits); err == nil || !strings.Contains(err.Error(), "permissions.tools.t15.mode") {
		t.Errorf("the error is %v, want one that names the setting", err)
	}
	edits[15] = Edit{Path: "permissions.tools.t15.mood", Value: "deny"}
	if _, err := f.edit(nil, edits); err == nil || !strings.Contains(err.Error(), "mood") {
		t.Errorf("the error is %v, want one that names the setting", err)
	}
}
