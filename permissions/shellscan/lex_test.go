package shellscan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
)

// TestPlainWords holds texts that stay inside the grammar.
func TestPlainWords(t *testing.T) {
	for text, want := range map[string][]string{
		"cat a":                           {"cat", "a"},
		"  cat \t a\t":                    {"cat", "a"},
		"cat 'a b' c":                     {"cat", "a b", "c"},
		`cat "a b"'c'd`:                   {"cat", "a bcd"},
		`c"a"t a`:                         {"cat", "a"},
		"cat ''":                          {"cat", ""},
		`grep "a\.b" f`:                   {"grep", `a\.b`, "f"},
		`grep "a\\b\"c\$d\` + "`" + `" f`: {"grep", "a\\b\"c$d`", "f"},
		`grep "end$" f`:                   {"grep", "end$", "f"},
		`grep '$(id);*?[x]{a,b}~#!' f`:    {"grep", "$(id);*?[x]{a,b}~#!", "f"},
		`grep "*?[x]{a,b}~#!;|&<>()'" f`:  {"grep", "*?[x]{a,b}~#!;|&<>()'", "f"},
		"echo a=b +c %d ^e @f :g,h":       {"echo", "a=b", "+c", "%d", "^e", "@f", ":g,h"},
		"echo héllo 日本 ß":                 {"echo", "héllo", "日本", "ß"},
		"echo if then":                    {"echo", "if", "then"},
		"'if' a":                          {"if", "a"},
		`"A=b" c`:                         {"A=b", "c"},
		`A"="b c`:                         {"A=b", "c"},
		"go test -run X -v pkg":           {"go", "test", "-run", "X", "-v", "pkg"},
		"=cat a":                          {"=cat", "a"},
		"a-b=c d":                         {"a-b=c", "d"},
		"'' a":                            {"", "a"},
	} {
		c := Scan(text)
		if c.Class == permissions.Ambiguous || !slices.Equal(c.Argv, want) {
			t.Errorf("%q: %s %s, argv %q, want %q", text, c.Class, c.Why, c.Argv, want)
		}
		check(t, c)
	}
}

// TestAmbiguous holds what makes a text ambiguous, the kinds in their order,
// and the marked bytes.
func TestAmbiguous(t *testing.T) {
	for _, tc := range []struct {
		text  string
		kind  Kind
		marks string // the marked pieces, joined by spaces; quoted with %q where not printable
	}{
		{"cat a && id", KindAnd, "&&"},
		{"cat a || id", KindOr, "||"},
		{"cat a|sh", KindPipe, "|"},
		{"cat a |& sh", KindPipe, "|&"},
		{"cat a; id", KindSequence, ";"},
		{"cat a;; id", KindSequence, ";;"},
		{"cat a & id", KindBackground, "&"},
		{"cat a &", KindBackground, "&"},
		{"cat a > b", KindRedirect, ">"},
		{"cat a >> ~/.bashrc", KindRedirect, ">> ~"},
		{"cat a 2>&1", KindRedirect, ">&"},
		{"cat a &> b", KindRedirect, "&>"},
		{"cat < b", KindRedirect, "<"},
		{"cat <<< b", KindHereDoc, "<<<"},
		{"cat << E", KindHereDoc, "<<"},
		{"cat <(id)", KindProcess, "<( )"},
		{"tee >(id)", KindProcess, ">( )"},
		{"cat $(id)", KindCommand, "$( )"},
		{"cat `id`", KindCommand, "` `"},
		{`cat "a$(id)"`, KindCommand, "$("},
		{"cat \"a`id`\"", KindCommand, "` `"},
		{"cat $HOME/x", KindVariable, "$HOME"},
		{"cat ${IFS}/x", KindVariable, "${IFS}"},
		{`cat "$HOME/x"`, KindVariable, "$HOME"},
		{`cat "${x:-y}"`, KindVariable, "${x:-y}"},
		{"cat $1$@", KindVariable, "$1$@"},
		{"cat $", KindVariable, "$"},
		{`cat "$ a"`, KindVariable, "$"},
		{"echo $((1+1))", KindVariable, "$(( ))"},
		{"echo $[1+1]", KindVariable, "$[ ]"},
		{"cat $'a'", KindDollar, "$"},
		{`cat $"a"`, KindDollar, "$"},
		{"(cat a)", KindGroup, "( )"},
		{"f(){ id; }; f", KindGroup, "(){ ; };"},
		{"{ cat a; }", KindBrace, "{ ; }"},
		{"cat {a,b}", KindBrace, "{ }"},
		{"cat a{1..3}", KindBrace, "{ }"},
		{"cat *", KindGlob, "*"},
		{"cat a?", KindGlob, "?"},
		{"cat [ab]", KindGlob, "[ ]"},
		{"[ -f a ]", KindGlob, "[ ]"},
		{"[[ -f a ]]", KindGlob, "[[ ]]"},
		{"cat @(a|b)", KindGroup, "( | )"},
		{"cat ~/x", KindTilde, "~"},
		{"cat ~root/x", KindTilde, "~"},
		{"cat a~", KindTilde, "~"},
		{"cat a #b", KindComment, "#"},
		{"cat a#b", KindComment, "#"},
		{"#cat", KindComment, "#"},
		{"! cat a", KindHistory, "!"},
		{"!!", KindHistory, "!!"},
		{`c\at a`, KindBackslash, `\`},
		{"cat a\\\nb", KindBackslash, "\\\n"},
		{"cat a\nid", KindNewline, "\n"},
		{"cat 'a\nid'", KindNewline, "\n"},
		{"cat \"a\nid\"", KindNewline, "\n"},
		{"cat a\n", KindNewline, "\n"},
		{"cat a\r\nid", KindReturn, "\r\n"},
		{"cat a\rid", KindReturn, "\r"},
		{"cat a\x00id", KindNUL, "\x00"},
		{"cat 'a\x00id'", KindNUL, "\x00"},
		{"cat a\x1b[2J", KindControl, "\x1b["},
		{"cat a\x7f", KindControl, "\x7f"},
		{"cat a\x0bb", KindControl, "\x0b"},
		{"cat a\u0085b", KindSpace, "\u0085"},
		{"cat\u00a0a", KindSpace, "\u00a0"},
		{"cat 'a\u3000b'", KindSpace, "\u3000"},
		{"cat a\u2003b", KindSpace, "\u2003"},
		{"cat a\u2028id", KindNewline, "\u2028"},
		{"cat a\u202eb", KindInvisible, "\u202e"},
		{"cat \"a\u202eb\"", KindInvisible, "\u202e"},
		{"cat a\u2066b\u2069", KindInvisible, "\u2066 \u2069"},
		{"cat a\u200bb", KindInvisible, "\u200b"},
		{"cat a\u00adb", KindInvisible, "\u00ad"},
		{"\ufeffcat a", KindInvisible, "\ufeff"},
		{"cat a\u3164b", KindInvisible, "\u3164"},
		{"cat a\ufe0fb", KindInvisible, "\ufe0f"},
		{"cat a\U000e0061b", KindInvisible, "\U000e0061"},
		{"cat a\ue000b", KindInvisible, "\ue000"},
		{"cat a\ufffdb", KindInvisible, "\ufffd"},
		{"cat a\xffb", KindUTF8, "\xff"},
		{"cat 'a\xc3'", KindUTF8, "\xc3"},
		{"cat a\xed\xa0\x80b", KindUTF8, "\xed\xa0\x80"},
		{"cat 'a", KindQuote, "'"},
		{`cat "a`, KindQuote, `"`},
		{`cat "a\"`, KindQuote, `"`},
		{`cat 'a\'' b`, KindQuote, "'"},
		{"cat 'a *\n", KindQuote, "' \n"},
		{"A=b cat a", KindAssignment, "A="},
		{"A=b", KindAssignment, "A="},
		{"_a1+=b cat", KindAssignment, "_a1+="},
		{"A='b' cat", KindAssignment, "A="},
		{"if cat a", KindKeyword, "if"},
		{"time cat a", KindKeyword, "time"},
		{"coproc cat a", KindKeyword, "coproc"},
		{"function f", KindKeyword, "function"},
		{"export A=b", KindKeyword, "export"},
		{"declare a", KindKeyword, "declare"},
		{"let a=1", KindKeyword, "let"},
		{"", KindEmpty, ""},
		{" \t ", KindEmpty, " \t "},
		{"cat " + strings.Repeat("a", MaxBytes-3), KindTooLong, "a"},
	} {
		c, found := Inspect(tc.text)
		if c.Class != permissions.Ambiguous {
			t.Errorf("%q is %s with argv %q", tc.text, c.Class, c.Argv)
			continue
		}
		if found[0].Kind != tc.kind {
			t.Errorf("%q: %v, want %s first", tc.text, found, tc.kind)
		}
		if want := marked(tc.text, marks(found)); want != tc.marks {
			t.Errorf("%q: marked %q, want %q", tc.text, want, tc.marks)
		}
		check(t, c)
	}
}

func marked(text string, marks []permissions.Mark) string {
	var out []string
	for _, m := range marks {
		out = append(out, text[m.Start:m.End])
	}
	return strings.Join(out, " ")
}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"cat a && id":           "`&&` joins two commands; only a simple command can run by rule.",
		"cat a >> ~/.bashrc":    "`>>` redirects input or output, and `~` may be replaced by a home folder; only a simple command can run by rule.",
		"cat a; b; c":           "`;` starts another command; only a simple command can run by rule.",
		"cat * | sh > $x":       "`*` may be replaced by the names of files, and `|` passes the output on to another command, and there is more of the kind; only a simple command can run by rule.",
		"cat `id`":              "\"`\" is replaced by the output of another command; only a simple command can run by rule.",
		"cat a\nb":              "A line break starts another command; only a simple command can run by rule.",
		"":                      "The command is empty; only a simple command can run by rule.",
		"go test ./...":         "`go` is not one of the programs that the rules know, so the command has to be asked about.",
		"sort -o x a":           "`-o` is not a flag of `sort` that the rules know, so the command has to be asked about.",
		"./cat a":               "`./cat` names a program by its path, and the rules know programs only by their bare names, so the command has to be asked about.",
		"cat":                   "`cat` is given fewer operands than it needs, so the command has to be asked about.",
		"cat -":                 "`-` means standard input or output, so the command has to be asked about.",
		"cat a -x\u00e9":        "`-xé` is not a flag of `cat` that the rules know, so the command has to be asked about.",
		"cat '' a":              "An operand is empty, so the command has to be asked about.",
		strings.Repeat("é", 30): "`" + strings.Repeat("é", 20) + "…` is not one of the programs that the rules know, so the command has to be asked about.",
	} {
		if got := Scan(text).Why; got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestReasons keeps the table of reasons whole.
func TestReasons(t *testing.T) {
	for k, s := range reasons {
		if s == "" || strings.HasSuffix(s, ".") {
			t.Errorf("%s: %q", k, s)
		}
		if got := sentence("ab", []Finding{{Kind: k, End: 1, Of: "cat"}}); strings.Contains(got, "%!") {
			t.Errorf("%s: %s", k, got)
		}
	}
}

// TestLimit looks at the length where a text stops being readable.
func TestLimit(t *testing.T) {
	fits := "cat " + strings.Repeat("a", MaxBytes-4)
	if c := Scan(fits); c.Class != permissions.Simple {
		t.Errorf("%d bytes: %s", len(fits), c.Class)
	}
	many := "cat" + strings.Repeat(" a", (MaxBytes-3)/2)
	if c := Scan(many); c.Class != permissions.Simple || len(c.Argv) != 8191 || len(c.Operands) != 1 {
		t.Errorf("many words: %s %d words, %d operands", c.Class, len(c.Argv), len(c.Operands))
	}
	if c := Scan(fits + "a"); c.Class != permissions.Ambiguous {
		t.Errorf("a byte more: %s", c.Class)
	}
}

// TestHugeTexts must end soon: nothing may grow with the square of the length.
func TestHugeTexts(t *testing.T) {
	start := time.Now()
	Scan(strings.Repeat("a ", 1<<16))
	plain := time.Since(start)
	for _, unit := range []string{"=", "a ", "'", `"a" `, "{a,b}", "{", "$(", "\\", "`", "a=b:", "'\"", "${", "a;", "$'\\x41'", "{,", "~/.zeroclaw\n", "\xff", "\x00"} {
		text := strings.Repeat(unit, (1<<17)/len(unit))
		start := time.Now()
		c := Scan(text)
		if took := time.Since(start); took > max(5*time.Second, 100*plain) || c.Class != permissions.Ambiguous {
			t.Errorf("%q: %s after %v, %d pieces", unit, c.Class, took, len(c.Words))
		}
		short := strings.Repeat(unit, MaxBytes/len(unit))
		check(t, Scan(short))
	}
}

// TestWindows: PowerShell reads no command as we do.
func TestWindows(t *testing.T) {
	for text, want := range map[string]permissions.CommandClass{
		"cat a": permissions.Unmodelled, "pwd": permissions.Unmodelled, "go vet": permissions.Unmodelled, "cat $a": permissions.Ambiguous,
	} {
		c, _ := inspect(text, "windows")
		if c.Class != want || len(c.Operands) > 0 {
			t.Errorf("%q: %s", text, c.Class)
		}
	}
}

// TestAgree shows that the second reader can say no by itself.
func TestAgree(t *testing.T) {
	for _, text := range []string{"time a", "a >b", "a; b", "a &", "! a", "A=b c", "a #b", "(a)", "a $b", "export a", "a\nb", `a "$b"`, "a $'b'", `a $"b"`, "a *b@(c)", "f() { a; }", "a <(b)", "if"} {
		var ws []word
		for at, w := range strings.Fields(text) {
			ws = append(ws, word{text: w, start: at, end: at + len(w)})
		}
		if agree(text, ws) == nil {
			t.Errorf("%q: the second reader agrees", text)
		}
	}
	ws := []word{{"cat", 0, 3}, {"a", 4, 5}}
	if f := agree("cat a", ws); f != nil {
		t.Errorf("plain words: %v", f)
	}
	if f := agree("cat b", ws); f == nil {
		t.Error("another word: the second reader agrees")
	}
	if f := agree("cat  a", ws); f == nil {
		t.Error("another place: the second reader agrees")
	}
}

func ExampleScan() {
	for _, text := range []string{"cp ./a.txt ./docs", "go test ./...", "cat a && id"} {
		c := Scan(text)
		fmt.Println(c.Class, c.Operands, c.Marks)
	}
	// Output:
	// simple [{./a.txt read false false false } {./docs write false false false a.txt}] []
	// unmodelled [] [{0 2}]
	// ambiguous [] [{6 8}]
}
