package shellscan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// short writes operands as "r:a l:b/** w:c/(a) d:e": the operation, the path, "/**"
// for a walk, and the name kept in a destination.
func short(operands []permissions.Operand) string {
	var out []string
	for _, o := range operands {
		s := string(o.Op[0]) + ":" + o.Text
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
		"mkdir -p a/b c":                                         "w:a/b w:c",
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
		"mv -f x/a y/b c":                                        "r:x/a/** d:x/a/** r:y/b/** d:y/b/** w:c/(a) d:c/(a) w:c/(b) d:c/(b)",

		// A flag behind an operand is a file for a system that does not permute:
		// both readings must be covered.
		"cat a -n":        "r:a r:-n",
		"head a -n 5":     "r:a r:-n r:5",
		"head a -n5":      "r:a r:-n5",
		"ls p -la":        "l:p l:-la",
		"ls p -R":         "l:p/** l:-R/**",
		"grep foo a -n":   "r:a r:-n",
		"grep a -e foo":   "r:a r:-e r:foo",
		"grep foo p -rn":  "r:p/** r:-rn/**",
		"cat a -- b":      "r:a r:b r:--",
		"cat a -- -n":     "r:a r:-n r:--",
		"mkdir a -p":      "w:a w:-p",
		"rm a -f":         "d:a d:-f",
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

func TestUnmodelled(t *testing.T) {
	for _, tc := range []struct {
		kind  Kind
		texts string // one a line
	}{
		{KindProgram, `
			go test ./...
			git status
			git log --oneline
			Cat a
			CAT a
			catx a
			'' a
			"cat " a
			саt a
			sh -c id
			bash -c id
			env cat a
			sudo cat a
			xargs cat
			nohup cat a
			timeout 5 cat a
			nice cat a
			command cat a
			builtin cat a
			exec cat a
			eval cat a
			source a
			. a
			cd /
			set -x
			trap a b
			test -f a
			sed -n 1p a
			awk 1 a
			egrep a b
			less a
			more a
			vi a
			tee a
			dd if=a
			ln -s a b
			chmod +x a
			chown a b
			tar xf a
			tree -o x
			xxd a b
			shuf -o a b
			date -s x
			split a
			install a b
			truncate a
			python3 -c x
			make
			npm test
			curl a
			kill 1
			sleep 5
			printf a
			=cat a
			- a
			%1`},
		{KindPath, `
			./cat a
			/bin/cat a
			bin/cat a
			../cat a
			'./cat' a
			'a\cat' b`},
		{KindFlag, `
			cat -x a
			cat a -x
			cat --numbe a
			cat --number=1 a
			cat --help
			cat --version
			cat -nx a
			cat -é a
			head -5 a
			head -z a
			head --line=5 a
			tail -5 a
			tail -f a
			tail -F a
			tail --follow a
			tail --pid=1 a
			tail --retry a
			wc --files0-from=l
			wc --total=never a
			du --files0-from=l
			du -L p
			du -H p
			du -D p
			du -X l
			du -t 1 p
			ls -L p
			ls -H p
			ls -lL p
			ls --dereference p
			ls -I x
			ls -T p
			ls -w 1 p
			ls -D p
			ls -Z p
			ls --hyperlink p
			sort -o x a
			sort -ox a
			sort -ro x a
			sort a -o x
			sort --output=x a
			sort --outpu=x a
			sort --compress-program=x a
			sort --files0-from=l
			sort -T /t a
			sort -S 1G a
			sort --random-source=x a
			sort -m a
			sort +1 -2 a
			uniq -D a
			uniq -z a
			cut -z a
			cut -w a
			diff -r a b
			diff -rq a b
			diff -N a b
			diff -l a b
			diff --paginate a b
			diff --from-file=a b
			diff --to-file=a b
			diff -X a b c
			diff --recursive a b
			grep -R foo p
			grep --dereference-recursive foo p
			grep -d read foo p
			grep -D read foo p
			grep -S foo p
			grep -z foo a
			grep -Z foo a
			grep -5 foo a
			grep --exclude-from=l foo a
			grep --directories=recurse foo p
			grep --inclu=x foo a
			sha256sum -c a
			sha256sum --check a
			sha256sum --chec a
			md5sum -c a
			md5sum -t
			file -f l
			file -z a
			file -m a b
			file -C
			file -s a
			file --files-from=l
			file -k a
			stat -L a
			stat -f a
			stat -t a
			readlink -z a
			realpath -z a
			realpath --relative-to=a b
			mkdir -m 777 a
			mkdir -Z a
			mkdir --mode=777 a
			touch -r a b
			touch -h a
			touch --reference=a b
			rm -r a
			rm -R a
			rm -rf a
			rm -fr a
			rm --recursive a
			rm --no-preserve-root -rf /
			rmdir -p a/b
			rmdir --parents a/b
			cp -r a b
			cp -R a b
			cp -a a b
			cp -rL a b
			cp -L a b
			cp -P a b
			cp -d a b
			cp -l a b
			cp -s a b
			cp -b a b
			cp -S x a b
			cp -t b a
			cp -T a b
			cp -u a b
			cp -H a b
			cp --target-directory=b a
			cp --target-dir=b a
			cp --parents a b
			cp --recursive a b
			cp --remove-destination a b
			cp --backup a b
			cp --sparse=always a b
			mv -t b a
			mv -T a b
			mv -b a b
			mv -S x a b
			mv --target-directory=b a
			mv --exchange a b
			basename -z a
			dirname -z a
			dirname -a a`},
		{KindValue, `
			head -n x a
			tail -nf a
			head -n5q a
			head --lines= a
			head -n 99999999999999999999 a
			head -n 1e3 a
			head -n 0x10 a
			head -n -a a
			tail -n '' a
			grep -A x foo a
			grep -f - a
			grep -f '' a
			grep --color=yes foo a
			ls --color=x
			du -d x
			du --max-depth=x
			find p -newer -`},
		{KindNoValue, `
			head -n
			head --lines
			head a -n
			grep -e
			find p -name
			find p -newer`},
		{KindFew, `
			cat
			cat -n
			cat --
			head -n 5
			grep
			grep foo
			grep -n foo
			grep -e foo
			cmp a
			diff a
			cp
			cp a
			mv a
			mkdir
			mkdir -p
			rm -f
			basename
			sort
			stat
			realpath`},
		{KindMany, `
			uniq a b
			uniq -c -- a -b
			cmp a b c
			cmp a b 1 2
			diff a b c`},
		{KindDash, `
			cat -
			cat a -
			cat -- -
			head -n 5 -
			diff - a
			cp - a
			cp a -
			rm -
			ls -
			find -`},
		{KindPlus, `
			tail +5 a
			tail -n 5 +5
			cat +5
			sort +1 a
			cat -- +5
			cp +a b
			find +a`},
		{KindBlank, `
			cat ''
			cat a ""
			cp '' b
			find ''
			ls ''
			rm -- ''`},
		{KindOrder, `
			uniq a -c
			cmp a b -s
			diff a b -u
			cp a b -v
			cp a -v b
			mv a b -f
			cp a -- b`},
		{KindNameless, `
			cp . b
			cp .. b
			cp / b
			cp a/.. b
			cp a/. b
			mv .. b
			mv / b
			mv // b`},
		{KindExpression, `
			find p -exec id +
			find p -exec id ';'
			find p -execdir id +
			find p -ok id ';'
			find p -okdir id ';'
			find p -delete
			find p -fls x
			find p -fprint x
			find p -fprint0 x
			find p -fprintf x %p
			find -files0-from l
			find -L p
			find -H p
			find -P p
			find -D all p
			find -O3 p
			find -f p
			find p -follow
			find p -lname x
			find p -samefile x
			find p -anewer x
			find p -newermt x
			find p -depth
			find p -d
			find p -name a b
			find p -print p
			find p ,
			find p '(x'
			find ')x'
			find -- p
			find p -nam x
			find p -EXEC id
			find p -exec=id
			find -E p
			find --help
			find -name=x`},
	} {
		for _, text := range strings.Split(strings.TrimSpace(tc.texts), "\n") {
			text = strings.TrimSpace(text)
			c, found := Inspect(text)
			if c.Class != permissions.Unmodelled || found[0].Kind != tc.kind {
				t.Errorf("%q: %s %v, want %s: %s", text, c.Class, found, tc.kind, c.Why)
			}
			check(t, c)
		}
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
				if !slices.Contains([]string{"", "walk", "pattern", "replace"}, known.effect) {
					t.Errorf("%s: %s has the effect %q", name, f, known.effect)
				}
			}
		}
		if r.shape == files && !slices.Contains([]string{"read", "list", "write", "delete"}, r.op) {
			t.Errorf("%s: operation %q", name, r.op)
		}
		if r.about == "" {
			t.Errorf("%s: no words about it", name)
		}
		if keywords[name] {
			t.Errorf("%s is a keyword", name)
		}
	}
	for _, p := range Table() {
		if p.Writes {
			writers++
		} else {
			readers++
		}
		t.Logf("%-10s %s: %s", p.Name, p.About, strings.Join(p.Flags, " "))
	}
	if got := fmt.Sprint(Programs()); len(Programs()) != readers+writers || !strings.HasPrefix(got, "[basename cat cmp cp cut") {
		t.Errorf("programs %s", got)
	}
	if writers != 6 {
		t.Errorf("%d writers", writers)
	}
}
