package shellscan

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator makes commands, most of them near the line between plain words and
// everything else. No text names a program that exists by its path.
type generator struct{ *rand.Rand }

var (
	programs   = slices.Sorted(maps.Keys(table))
	firstWords = append(slices.Clone(programs), "git", "go", "sed", "eval", "exec", "cd", "source", "test", "set", "command", "printf",
		"if", "time", "coproc", "function", "declare", "export", "let", "in", "do", "esac", "then", "select", "until",
		"typeset", "readonly", "local", "nameref", "repeat", "end", "alias", "trap", ":", ".", "[", "[[", "]]", "{", "}", "!",
		"./cat", "Cat", "a=b", "a+=b", "A", "a-b", "'cat'", `"cat"`, `c"a"t`, `c\at`, "''", `""`, "=cat", "x=", "cat=", "-", "--", "%1", "@", "+")
	goodWords = []string{"a", "b.txt", "./p/a.txt", "p/", "..", "/e/p", "-n", "-la", "--all", "--lines=5", "-n5", "5", "-", "--", "+1", "-e",
		"foo", "x=y", "a:b", "a,b", "a@b", "50%", "^a", "héllo", "日本", "-name", "-type", "f", "-r", "-rf", "1>", "a.b-c_d", "if", "time", "done", "=a", "a=", "a+=b", "^", "-x=y"}
	insides  = []string{"a", " ", "b c", "\t", "*", "?", "[a]", "{x,y}", "~", "#", ";", "&&", "|", "<", ">", "(", ")", "!", "'", "$", "\\", "\\\\", "\\n", "\\\"", "\\$", "\\`", "é", "=", "^", "%", ",", "-", "\\'", "\\!", "\\ ", "\\a"}
	specials = []string{";", "&", "|", "<", ">", "(", ")", "$", "`", "\\", "*", "?", "[", "]", "{", "}", "~", "#", "!", "\n", "\r", "\x00", "\x01", "\x7f",
		"\u00a0", "\u200b", "\u202e", "\u2028", "\ufeff", "\u3000", "\xff", "\xc3", "$HOME", "${x}", "$(a)", "$'a'", `$"a"`, "$((1))", "a=b", "'", `"`, "&&", "||", ">>", "<<", "<<<", "&>", ";;", "|&", "\\\n", "$[1]", "@(a)", "<(a)", "\v", "\f", "\u0085"}
	alphabet = " \t'\"\\$`abct=-./~#!{}[]*?;&|<>()^%,:@+0\n\x01\xa0é"
)

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func (g generator) command() string {
	if g.IntN(8) == 0 {
		return g.bytes()
	}
	var b strings.Builder
	if g.IntN(30) == 0 {
		b.WriteString(g.gap())
	}
	switch g.IntN(10) {
	case 0:
		b.WriteString(g.word())
	case 1:
		b.WriteString(pick(g, firstWords))
	default:
		b.WriteString(pick(g, programs))
	}
	for n := g.IntN(6); n > 0; n-- {
		b.WriteString(g.gap())
		b.WriteString(g.word())
	}
	if g.IntN(30) == 0 {
		b.WriteString(g.gap())
	}
	s := b.String()
	for g.IntN(6) == 0 {
		at := g.IntN(len(s) + 1)
		s = s[:at] + pick(g, specials) + s[at:]
	}
	return s
}

func (g generator) gap() string {
	return pick(g, []string{" ", " ", " ", " ", "  ", "\t", " \t "})
}

// word joins one to three parts, plain or quoted.
func (g generator) word() string {
	if g.IntN(2) == 0 {
		return pick(g, goodWords)
	}
	var b strings.Builder
	for n := 1 + g.IntN(3); n > 0; n-- {
		switch g.IntN(5) {
		case 0, 1:
			b.WriteString(pick(g, goodWords))
		case 2:
			b.WriteByte('\'')
			for k := g.IntN(4); k > 0; k-- {
				b.WriteString(strings.ReplaceAll(pick(g, insides), "'", ""))
			}
			b.WriteByte('\'')
		default:
			b.WriteByte('"')
			for k := g.IntN(4); k > 0; k-- {
				b.WriteString(pick(g, insides))
			}
			b.WriteByte('"')
		}
	}
	return b.String()
}

// bytes is a text without any grammar; half of them start like a command.
func (g generator) bytes() string {
	var b strings.Builder
	if g.IntN(2) == 0 {
		b.WriteString("cat ")
	}
	for n := g.IntN(12); n > 0; n-- {
		if g.IntN(3) > 0 {
			b.WriteByte("abct'\" =-./^%,:@+"[g.IntN(17)])
		} else {
			b.WriteByte(alphabet[g.IntN(len(alphabet))])
		}
	}
	return b.String()
}
