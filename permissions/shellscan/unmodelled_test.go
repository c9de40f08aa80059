package shellscan

import (
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// TestUnmodelled holds plain words that the table must have no answer for.
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
			diff a b c
			mv a b c
			mv -f x/link x/link/file y`},
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
			grep foo a -e -
			grep foo a -e ''
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
