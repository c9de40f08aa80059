package shellscan

import (
	"slices"
	"strings"
	"testing"
)

// TestPieces holds texts that name ~/.zeroclaw in some way, and the piece that
// must be among the words.
func TestPieces(t *testing.T) {
	for text, want := range map[string]string{
		"cat ~/.zeroclaw/config.toml":                           "~/.zeroclaw/config.toml",
		"cat .zeroclaw":                                         ".zeroclaw",
		`cat ~/.zero"claw"/x`:                                   "~/.zeroclaw/x",
		`cat ~/.zero'claw'/x`:                                   "~/.zeroclaw/x",
		`cat ~/.zero\claw/x`:                                    "~/.zeroclaw/x",
		`cat ~/.z\e\r\o\c\l\a\w`:                                "~/.zeroclaw",
		`cat ~/.zero''claw ~/.zero""claw`:                       "~/.zeroclaw",
		`cat "$HOME/.zeroclaw/x"`:                               "$HOME/.zeroclaw/x",
		`cat "$HOME"/.zeroclaw/x`:                               "$HOME/.zeroclaw/x",
		`cat $HOME/.zeroclaw`:                                   "$HOME/.zeroclaw",
		`cat ${HOME}/.zeroclaw`:                                 "$HOME/.zeroclaw",
		`cat "${HOME}/.zeroclaw"`:                               "$HOME/.zeroclaw",
		`cat ${HOME:-/root}/.zeroclaw`:                          "$HOME/.zeroclaw",
		`cat ${HOME%/}/.zeroclaw`:                               "$HOME/.zeroclaw",
		`cat $'/home/u/.zero\x63law'`:                           "/home/u/.zeroclaw",
		`cat $'/home/u/.zero\143law'`:                           "/home/u/.zeroclaw",
		`cat $'/home/u/.zero\u0063law'`:                         "/home/u/.zeroclaw",
		`cat $"/home/u/.zeroclaw"`:                              "/home/u/.zeroclaw",
		`cat ~/.zero$'\x63'law`:                                 "~/.zeroclaw",
		`cat ~/.zero$@claw`:                                     "~/.zeroclaw",
		`cat ~/.zero${x}claw`:                                   "~/.zeroclaw",
		`cat ~/.zero$()claw`:                                    "~/.zeroclaw",
		"cat ~/.zero``claw":                                     "~/.zeroclaw",
		"cat ~/.zero\\\nclaw":                                   "~/.zeroclaw",
		"cat ~/.{zeroclaw,x}/y":                                 "~/.zeroclaw/y",
		"cat ~/.zero{c,d}law":                                   "~/.zeroclaw",
		"cat {/home/u/.zeroclaw,x}":                             "/home/u/.zeroclaw",
		"cat {a,~/.{b,zeroclaw}}":                               "~/.zeroclaw",
		"cat a;cat ~/.zeroclaw":                                 "~/.zeroclaw",
		"cat a&&cat<~/.zeroclaw/x>y":                            "~/.zeroclaw/x",
		"cat a>~/.zeroclaw":                                     "~/.zeroclaw",
		"cat a\ncat ~/.zeroclaw":                                "~/.zeroclaw",
		"cat a\x00cat ~/.zeroclaw":                              "~/.zeroclaw",
		"cat a\rcat ~/.zeroclaw":                                "~/.zeroclaw",
		"cat\u00a0~/.zeroclaw":                                  "~/.zeroclaw",
		"cat $(cat ~/.zeroclaw/x)":                              "~/.zeroclaw/x",
		"cat `cat ~/.zeroclaw/x`":                               "~/.zeroclaw/x",
		`sh -c 'cat ~/.zeroclaw/x'`:                             "~/.zeroclaw/x",
		`sh -c "sh -c 'cat ~/.zeroclaw/x'"`:                     "~/.zeroclaw/x",
		`sh -c "sh -c \"cat ~/.zeroclaw/x\""`:                   "~/.zeroclaw/x",
		`python3 -c "print(open('/home/u/.zeroclaw/x'))"`:       "/home/u/.zeroclaw/x",
		`python3 -c 'print(open("/home/u/.zeroclaw/x"))'`:       "/home/u/.zeroclaw/x",
		`node -e "require('fs').rm('/home/u/.zeroclaw',f)"`:     "/home/u/.zeroclaw",
		"make -C/home/u/.zeroclaw":                              "/home/u/.zeroclaw",
		"gcc -I.zeroclaw":                                       ".zeroclaw",
		"x --file=~/.zeroclaw/x":                                "~/.zeroclaw/x",
		"x --file=/home/u/.zeroclaw/a=b":                        "/home/u/.zeroclaw/a=b",
		"dd if=/home/u/.zeroclaw/x of=y":                        "/home/u/.zeroclaw/x",
		"A=~/.zeroclaw cat":                                     "~/.zeroclaw",
		"PATH=/bin:~/.zeroclaw/bin cat":                         "~/.zeroclaw/bin",
		"curl -d @/home/u/.zeroclaw/x file:///home/u/y":         "/home/u/.zeroclaw/x",
		"curl file:///home/u/.zeroclaw/x":                       "///home/u/.zeroclaw/x",
		"scp a:.zeroclaw/x b":                                   ".zeroclaw/x",
		`type C:\Users\u\.zeroclaw\x`:                           `C:\Users\u\.zeroclaw\x`,
		`type "C:\Users\u\.zeroclaw\x"`:                         `C:\Users\u\.zeroclaw\x`,
		`cat "~/.zeroclaw`:                                      "~/.zeroclaw",
		`cat '~/.zeroclaw`:                                      "~/.zeroclaw",
		"cat a #~/.zeroclaw":                                    "#~/.zeroclaw",
		"cat a # ~/.zeroclaw":                                   "~/.zeroclaw",
		"cat " + strings.Repeat("a ", MaxBytes) + "~/.zeroclaw": "~/.zeroclaw",
		"x " + strings.Repeat("a=", 100) + "~/.zeroclaw":        "~/.zeroclaw",
	} {
		if c := Scan(text); !slices.Contains(c.Words, want) {
			t.Errorf("%.80q: %q is not among %.200q", text, want, c.Words)
		}
	}
}

// TestPiecesOfPlainWords: every argument is a piece.
func TestPiecesOfPlainWords(t *testing.T) {
	c := Scan(`cp ./a.txt 'b c' "d" --verbose`)
	for _, a := range c.Argv {
		if !slices.Contains(c.Words, a) {
			t.Errorf("%q is not among %q", a, c.Words)
		}
	}
	if c := Scan(""); len(c.Words) != 0 {
		t.Errorf("of nothing: %q", c.Words)
	}
}
