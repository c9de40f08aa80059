package shellscan

import (
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// short writes operands as "r:a l:b/** w:c/(a) d:e": the operation, the path, "/**"
// for a walk, "?" for a flag behind a file, "^" where missing folders above are made, and the name kept in a destination.
func short(operands []permissions.Operand) string {
	var out []string
	for _, o := range operands {
		s := string(o.Op[0]) + ":" + o.Text
		if o.Late {
			s += "?"
		}
		if o.Parents {
			s += "^"
		}
		if o.Walk {
			s += "/**"
		}
		if o.Into == notFolder {
			s += "/(!)"
		} else if o.Into != "" {
			s += "/(" + o.Into + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestSimple(t *testing.T) {
	for text, want := range map[string]string{
		"cat a":                          "r:a",
		"cat a b a":                      "r:a r:b",
		"cat -n a":                       "r:a",
		"cat -nsA -- a -b":               "r:a r:-b",
		"cat --number a":                 "r:a",
		"cat 'a b' c":                    "r:a b r:c",
		"cat '~/x'":                      "r:./~/x",
		"cat /e/p":                       "r:/e/p",
		"cat ../a":                       "r:../a",
		"tac a":                          "r:a",
		"head a":                         "r:a",
		"head -n 5 a":                    "r:a",
		"head -n5 a":                     "r:a",
		"head -n -5 a":                   "r:a",
		"head -qn 5 a b":                 "r:a r:b",
		"head -qn5 a":                    "r:a",
		"head --lines=5 a":               "r:a",
		"head --lines 5 a":               "r:a",
		"head -c 1K a":                   "r:a",
		"head -c 1MiB a":                 "r:a",
		"tail -n +5 a":                   "r:a",
		"tail -c 10 a":                   "r:a",
		"wc -l a b":                      "r:a r:b",
		"nl -b a -w 3 a":                 "r:a",
		"cut -d , -f 1,2 a":              "r:a",
		"cut -d, -f1 a":                  "r:a",
		"cut -d ' ' -f1- a":              "r:a",
		"cut --delimiter=, --fields=1 a": "r:a",
		"sort -rnk 2 a":                  "r:a",
		"sort -k2,2n -t: a b":            "r:a r:b",
		"sort -u a":                      "r:a",
		"uniq -c a":                      "r:a",
		"cmp a b":                        "r:a r:b",
		"diff -u a b":                    "r:a/(!) r:b/(!)",
		"diff -U 3 --color=never a b":    "r:a/(!) r:b/(!)",
		"grep foo a":                     "r:a",
		"grep -n foo a b":                "r:a r:b",
		"grep -rn foo .":                 "r:./**",
		"grep -r foo":                    "r:./**",
		"grep -r foo a b":                "r:a/** r:b/**",
		"grep -e foo -e bar a":           "r:a",
		"grep -efoo a":                   "r:a",
		"grep -f pats a":                 "r:pats r:a",
		"grep --file=pats a":             "r:pats r:a",
		"grep -A3 -B 3 -C3 foo a":        "r:a",
		"grep '' a":                      "r:a",
		"grep - a":                       "r:a",
		"grep +x a":                      "r:a",
		"grep -- -x a":                   "r:a",
		"grep -rn --include='*.go' --exclude-dir vendor foo .": "r:./**",
		"grep --color foo a":            "r:a",
		"grep --color=always foo a":     "r:a",
		"grep '~/x' a":                  "r:a",
		"sha256sum a b":                 "r:a r:b",
		"md5sum -b a":                   "r:a",
		"file -b a":                     "r:a",
		"stat a":                        "r:a",
		"stat -c %s a":                  "r:a",
		"stat --format='%s %n' a":       "r:a",
		"readlink -f a":                 "r:a",
		"realpath a":                    "r:a",
		"ls":                            "l:.",
		"ls -la":                        "l:.",
		"ls -la p":                      "l:p",
		"ls -lR":                        "l:./**",
		"ls --recursive p":              "l:p/**",
		"ls --color=auto --sort=size p": "l:p",
		"ls -1 -- -x":                   "l:-x",
		"du":                            "l:./**",
		"du -sh p q":                    "l:p/** l:q/**",
		"du -d 1 --exclude='*.o'":       "l:./**",
		"du --max-depth=1 p":            "l:p/**",
		"find":                          "l:./**",
		"find .":                        "l:./**",
		"find p q -name '*.go'":         "l:p/** l:q/**",
		"find -type f":                  "l:./**",
		"find p -maxdepth 2 -type f -size +1k -mtime -3 -print0": "l:p/**",
		"find p '(' -name a -o -name b ')' -prune -o -print":     "l:p/**",
		"find p '!' -name -exec":                                 "l:p/**",
		"find p -not -path './x/*'":                              "l:p/**",
		"find p -newer a":                                        "l:p/** r:a",
		"find p -printf '%p\\n'":                                 "l:p/**",
		"find '~'":                                               "l:./~/**",
		"basename a/b .txt":                                      "",
		"basename -s .txt a":                                     "",
		"dirname a/b":                                            "",
		"pwd":                                                    "",
		"pwd -P":                                                 "",
		"true":                                                   "",
		"true a -b":                                              "",
		"echo":                                                   "",
		"echo -n hello --x - +y ''":                              "",
		"mkdir a":                                                "w:a",
		"mkdir -p a/b c":                                         "w:a/b^ w:c^",
		"mkdir -- -p":                                            "w:-p",
		"touch a b":                                              "w:a w:b",
		"touch -c -d yesterday a":                                "w:a",
		"touch -t 202001010000 a":                                "w:a",
		"rm a":                                                   "d:a",
		"rm -f a b":                                              "d:a d:b",
		"rm -fv -- -r":                                           "d:-r",
		"rmdir a":                                                "d:a",
		"cp a b":                                                 "r:a w:b/(a)",
		"cp -p a/x b":                                            "r:a/x w:b/(x)",
		"cp a/ b":                                                "r:a/ w:b/(a)",
		"cp a b c":                                               "r:a r:b w:c/(a) w:c/(b)",
		"cp -f a b":                                              "r:a w:b/(a) d:b/(a)",
		"cp -nv -- -a b":                                         "r:-a w:b/(-a)",
		"mv a b":                                                 "r:a/** d:a/** w:b/(a) d:b/(a)",
		"mv -f x/a c":                                            "r:x/a/** d:x/a/** w:c/(a) d:c/(a)",

		// A flag behind an operand is a file for a system that does not permute:
		// both readings must be covered.
		"cat a -n":        "r:a r:-n?",
		"head a -n 5":     "r:a r:-n? r:5?",
		"head a -n5":      "r:a r:-n5?",
		"ls p -la":        "l:p l:-la?",
		"ls p -R":         "l:p/** l:-R?/**",
		"grep foo a -n":   "r:a r:-n?",
		"grep a -e foo":   "r:a r:-e? r:foo?",
		"grep foo p -rn":  "r:p/** r:-rn?/**",
		"cat a -- b":      "r:a r:b r:--?",
		"cat a -- -n":     "r:a r:-n r:--?",
		"mkdir a -p":      "w:a^ w:-p?^",
		"rm a -f":         "d:a d:-f?",
		"basename a -s x": "",
	} {
		c := Scan(text)
		if c.Class != permissions.Simple {
			t.Errorf("%q is %s: %s", text, c.Class, c.Why)
		} else if got := short(c.Operands); got != want {
			t.Errorf("%q touches %q, want %q", text, got, want)
		}
		check(t, c)
	}
}

// TestTable keeps the table itself whole.
func TestTable(t *testing.T) {
	readers, writers := 0, 0
	for name, r := range table {
		seen := map[string]bool{}
		for _, item := range strings.Fields(r.flags) {
			if !strings.HasPrefix(item, "-") {
				t.Errorf("%s: %q is no flag", name, item)
			}
			for f, known := range flagsOf(item) {
				if seen[f] {
					t.Errorf("%s: %s is there twice", name, f)
				}
				seen[f] = true
				if known.optional && !strings.HasPrefix(f, "--") {
					t.Errorf("%s: %s cannot have an optional value", name, f)
				}
				if !slices.Contains([]value{none, num, when, read, "text"}, known.value) {
					t.Errorf("%s: %s has a value of the kind %q", name, f, known.value)
				}
				if !slices.Contains([]string{"", "walk", "pattern", "replace", "parents"}, known.effect) {
					t.Errorf("%s: %s has the effect %q", name, f, known.effect)
				}
			}
		}
		if r.shape == files && !slices.Contains([]string{"read", "list", "write", "delete"}, r.op) {
			t.Errorf("%s: operation %q", name, r.op)
		}
		if r.op == "write" || r.op == "delete" || r.shape == copying || r.shape == moving {
			writers++
		} else {
			readers++
		}
		if keywords[name] {
			t.Errorf("%s is a keyword", name)
		}
	}
	if readers < 15 || writers != 6 {
		t.Errorf("%d readers and %d writers in %v", readers, writers, programs)
	}
}
