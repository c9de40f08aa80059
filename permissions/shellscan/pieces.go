package shellscan

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestPath   = 4096
	quoteDepth    = 4  // quotes inside quotes that are opened again
	wholeTails    = 8  // separators within a word whose whole tail is a piece, too
	braceVariants = 32 // words that one brace expression is expanded to
)

// pieces returns every word-like piece of a text, for any text at all: the
// words as a shell would see them, what stands inside their quotes, and what
// stands behind "=", ":", a flag letter and the like. A piece is a guess that
// is only good for one question, whether the text names a certain path; several
// readings of the same bytes may be there. "~", "$HOME" and the like are left
// for the caller to replace; "${HOME}" and its variants become "$HOME".
func pieces(text string) []string {
	g := gatherer{seen: map[string]bool{}}
	text = variants().ReplaceAllString(text, "$$$1")
	g.read(text, quoteDepth)
	if thin := vanishing().ReplaceAllString(text, ""); thin != text {
		g.read(thin, quoteDepth)
	}
	// The same without any quoting: backslashes stay, as in a Windows path.
	for _, w := range strings.FieldsFunc(text, between) {
		g.word(noQuotes.Replace(w))
	}
	return g.out
}

var noQuotes = strings.NewReplacer(`"`, "", "'", "")

// variants are the spellings with braces of variables that may lead home:
// ${HOME}, ${HOME:-x}, ${HOME%/}.
var variants = pattern(`\$\{(HOME|USER|LOGNAME|PWD|OLDPWD)(?:[^A-Za-z0-9_{}][^{}]*)?\}`)

// vanishing are expansions that are usually empty and so can split a name in
// two without changing it, and a line break that a backslash takes away.
var vanishing = pattern("\\$\\{[^{}]*\\}|\\$[@*0-9]|\\$\\(\\s*\\)|``|\\\\\r?\n")

// between tells the characters that end a word outside quotes.
func between(r rune) bool {
	switch r {
	case ' ', ';', '&', '|', '<', '>', '(', ')', '`', 0x7f:
		return true
	}
	return r < ' ' || r > 0x7f && (unicode.IsSpace(r) || unicode.IsControl(r))
}

type gatherer struct {
	seen map[string]bool
	out  []string
}

func (g *gatherer) add(s string) {
	if s != "" && !g.seen[s] {
		g.seen[s] = true
		g.out = append(g.out, s)
	}
}

// read splits a text into words, with quotes and backslashes removed, and reads
// what was inside quotes once more.
func (g *gatherer) read(text string, depth int) {
	var b strings.Builder
	open := false
	end := func() {
		if open {
			g.word(b.String())
		}
		b.Reset()
		open = false
	}
	inner := func(s string) {
		if depth > 0 && strings.IndexFunc(s, wordish) >= 0 {
			g.read(s, depth-1)
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\\':
			open = true
			if i+1 < len(text) && text[i+1] != '\n' {
				_, n := utf8.DecodeRuneInString(text[i+1:])
				b.WriteString(text[i+1 : i+1+n])
				i += n
			} else {
				i++
			}
			i++
		case c == '$' && i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '"'):
			if text[i+1] == '"' {
				i++
				continue
			}
			s, n := ansi(text[i+2:])
			b.WriteString(s)
			open = true
			inner(s)
			i += 2 + n
		case c == '\'' || c == '"':
			s, n := quotedText(text[i+1:], c)
			b.WriteString(s)
			open = true
			inner(s)
			i += 1 + n
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if between(r) {
				end()
			} else {
				open = true
				b.WriteString(text[i : i+n])
			}
			i += n
		}
	}
	end()
}

// wordish tells the characters for which the text of a quote is read again.
func wordish(r rune) bool { return between(r) || strings.ContainsRune(`'"\$`, r) }

// quotedText returns what stands before the closing quote and the bytes up to
// behind it. A quote that is never closed reaches to the end.
func quotedText(s string, quote byte) (string, int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return b.String(), i + 1
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), len(s)
}

// ansi decodes the text of $'…' as bash does.
func ansi(s string) (string, int) {
	var b strings.Builder
	i := 0
	for ; i < len(s); i++ {
		if s[i] == '\'' {
			return b.String(), i + 1
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == 'x':
			i += number(&b, s[i+1:], 16, 2)
		case c == 'u':
			i += number(&b, s[i+1:], 16, 4)
		case c == 'U':
			i += number(&b, s[i+1:], 16, 8)
		case c >= '0' && c <= '7':
			i += number(&b, s[i:], 8, 3) - 1
		case strings.IndexByte("abeEfnrtv", c) >= 0:
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), i
}

// number writes the character whose code s starts with, in at most most
// digits, and returns how many digits there were.
func number(b *strings.Builder, s string, base, most int) int {
	n := 0
	for n < len(s) && n < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	if v, err := strconv.ParseUint(s[:n], base, 32); err == nil {
		b.WriteRune(rune(v))
	}
	return n
}

// inside is what a path may stand behind within a word: --file=path, a:path,
// @path, {path,path}.
const inside = "=:,@{}[]+%"

// word adds a word and the paths that may hide in it.
func (g *gatherer) word(w string) {
	for _, v := range braces(w) {
		g.add(v)
		rest := v
		for n := 0; ; n++ {
			i := strings.IndexAny(rest, inside)
			if i < 0 {
				g.add(rest)
				break
			}
			g.add(rest[:i])
			rest = rest[i+1:]
			if n < wholeTails {
				g.add(rest)
			}
		}
		if strings.HasPrefix(v, "-") {
			if i := strings.IndexAny(v, "/~$."); i > 0 {
				g.add(v[i:])
			}
			if len(v) > 2 {
				g.add(v[2:])
			}
		}
	}
}

var braceList = pattern(`\{([^{}]*,[^{}]*)\}`)

// braces expands lists such as a{b,c}d, innermost first, up to braceVariants
// words. The word itself comes first. A word far longer than any path is left
// alone.
func braces(w string) []string {
	out := []string{w}
	if len(w) > 2*longestPath || !strings.Contains(w, "{") {
		return out
	}
	for i := 0; i < len(out); i++ {
		m := braceList().FindStringSubmatchIndex(out[i])
		if m == nil {
			continue
		}
		for _, part := range strings.Split(out[i][m[2]:m[3]], ",") {
			if len(out) >= braceVariants {
				return out
			}
			out = append(out, out[i][:m[0]]+part+out[i][m[1]:])
		}
	}
	return out
}
