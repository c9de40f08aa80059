package shellscan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one argument: its text after quote removal and the bytes it came from.
type word struct {
	text       string
	start, end int
}

// lexer reads a text as plain words. What is not plain becomes a finding; it
// then goes on as well as it can, so that every such place gets marked.
type lexer struct {
	text  string
	pos   int
	words []word
	found []Finding

	buf   strings.Builder
	start int // of the word being read, -1 between words
}

// lex splits a text into words. Findings are in the order of the text; with any
// of them the words mean nothing.
func lex(text string) ([]word, []Finding) {
	if len(text) > MaxBytes {
		return nil, []Finding{{Kind: KindTooLong, Start: MaxBytes, End: len(text)}}
	}
	l := lexer{text: text, start: -1}
	for l.pos < len(text) {
		switch c := text[l.pos]; {
		case c == ' ' || c == '\t':
			l.finish()
			l.pos++
		case c == '\'':
			l.begin()
			l.single()
		case c == '"':
			l.begin()
			l.double()
		default:
			if k, n := special(text[l.pos:]); n > 0 {
				l.find(k, n)
				continue
			}
			l.begin()
			l.char()
		}
	}
	l.finish()
	if len(l.found) == 0 {
		l.first()
	}
	return l.words, l.found
}

func (l *lexer) begin() {
	if l.start < 0 {
		l.start = l.pos
	}
}

func (l *lexer) finish() {
	if l.start < 0 {
		return
	}
	l.words = append(l.words, word{text: l.buf.String(), start: l.start, end: l.pos})
	l.buf.Reset()
	l.start = -1
}

// find records n bytes from here as a finding and steps over them.
func (l *lexer) find(k Kind, n int) {
	l.found = append(l.found, Finding{Kind: k, Start: l.pos, End: l.pos + n})
	l.pos += n
}

// char takes one character as it stands, if it is one that can be seen.
func (l *lexer) char() {
	if k, n := unseen(l.text[l.pos:]); n > 0 {
		l.find(k, n)
		return
	}
	_, n := utf8.DecodeRuneInString(l.text[l.pos:])
	l.buf.WriteString(l.text[l.pos : l.pos+n])
	l.pos += n
}

func (l *lexer) single() {
	open := l.pos
	for l.pos++; l.pos < len(l.text); {
		if l.text[l.pos] == '\'' {
			l.pos++
			return
		}
		l.char()
	}
	l.unfinished(open)
}

// double reads a double-quoted part. POSIX XCU 2.2.3: inside it a backslash
// quotes only $ ` " \ and a line break, and stays otherwise.
func (l *lexer) double() {
	open := l.pos
	for l.pos++; l.pos < len(l.text); {
		rest := l.text[l.pos:]
		switch {
		case rest[0] == '"':
			l.pos++
			return
		case rest[0] == '`':
			l.find(KindCommand, 1)
		case strings.HasPrefix(rest, `$"`):
			l.char() // a dollar at the very end is only a dollar
		case rest[0] == '$':
			l.find(dollar(rest))
		case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("$`\"\\", rest[1]) >= 0:
			l.buf.WriteByte(rest[1])
			l.pos += 2
		default:
			l.char()
		}
	}
	l.unfinished(open)
}

// unfinished puts the open quote where it belongs in the order of the text: it
// stands before everything that was found behind it.
func (l *lexer) unfinished(open int) {
	f := Finding{Kind: KindQuote, Start: open, End: open + 1}
	at := len(l.found)
	for at > 0 && l.found[at-1].Start > open {
		at--
	}
	l.found = append(l.found[:at], append([]Finding{f}, l.found[at:]...)...)
}

var assignment = pattern(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// keywords are the reserved words of bash and zsh, and the builtins that bash
// parses in a way of their own. Quoted they are ordinary words.
var keywords = map[string]bool{
	"if": true, "then": true, "else": true, "elif": true, "fi": true, "case": true, "esac": true,
	"for": true, "select": true, "while": true, "until": true, "do": true, "done": true, "in": true,
	"function": true, "time": true, "coproc": true, "foreach": true, "end": true, "repeat": true,
	"nocorrect": true, "noglob": true, "declare": true, "typeset": true, "local": true, "export": true,
	"readonly": true, "nameref": true, "let": true,
}

// first looks at what only counts for the first word.
func (l *lexer) first() {
	if len(l.words) == 0 {
		l.found = []Finding{{Kind: KindEmpty, Start: 0, End: len(l.text)}}
		return
	}
	w := l.words[0]
	raw := l.text[w.start:w.end]
	if m := assignment().FindString(raw); m != "" {
		l.found = []Finding{{Kind: KindAssignment, Start: w.start, End: w.start + len(m)}}
	} else if keywords[raw] {
		l.found = []Finding{{Kind: KindKeyword, Start: w.start, End: w.end}}
	}
}

// operators are the unquoted strings with a meaning, longest first.
var operators = []struct {
	text string
	kind Kind
}{
	{"<<<", KindHereDoc}, {"<<-", KindHereDoc}, {"<<", KindHereDoc},
	{"<(", KindProcess}, {">(", KindProcess},
	{"&>>", KindRedirect}, {"&>", KindRedirect}, {">>", KindRedirect}, {">&", KindRedirect}, {"<&", KindRedirect},
	{">|", KindRedirect}, {"<>", KindRedirect}, {">", KindRedirect}, {"<", KindRedirect},
	{"&&", KindAnd}, {"||", KindOr}, {"|&", KindPipe}, {"|", KindPipe}, {"&", KindBackground},
	{";;", KindSequence}, {";", KindSequence}, {"(", KindGroup}, {")", KindGroup},
	{"`", KindCommand}, {"{", KindBrace}, {"}", KindBrace},
	{"*", KindGlob}, {"?", KindGlob}, {"[", KindGlob}, {"]", KindGlob},
	{"~", KindTilde}, {"#", KindComment}, {"!", KindHistory}, {`\`, KindBackslash},
}

// special tells what an unquoted text starts with: the kind and the number of
// bytes, 0 for a plain character.
func special(rest string) (Kind, int) {
	switch c := rest[0]; {
	case c == '$':
		return dollar(rest)
	case c >= 0x80, c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return "", 0
	}
	for _, o := range operators {
		if strings.HasPrefix(rest, o.text) {
			return o.kind, len(o.text)
		}
	}
	return "", 0
}

var variable = pattern(`^\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^{}\n"']*\}|[0-9@*#?$!_-]|\{)?`)

func dollar(rest string) (Kind, int) {
	switch {
	case strings.HasPrefix(rest, "$(("):
		return KindVariable, 3
	case strings.HasPrefix(rest, "$("):
		return KindCommand, 2
	case strings.HasPrefix(rest, "$["):
		return KindVariable, 2
	case strings.HasPrefix(rest, "$'"), strings.HasPrefix(rest, `$"`):
		return KindDollar, 1
	}
	return KindVariable, len(variable().FindString(rest))
}

// unseen tells whether a text starts with something that must not be in a
// command: 0 bytes for a character that can be seen, a space or a tab.
func unseen(rest string) (Kind, int) {
	switch c := rest[0]; {
	case c == '\t', c >= 0x20 && c < 0x7f:
		return "", 0
	case c == 0:
		return KindNUL, 1
	case c == '\n':
		return KindNewline, 1
	case c == '\r':
		return KindReturn, 1
	case c < 0x80:
		return KindControl, 1
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case r == utf8.RuneError && n == 1:
		return KindUTF8, 1
	case r == '\u2028' || r == '\u2029':
		return KindNewline, n
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		return KindSpace, n
	case unicode.IsControl(r):
		return KindControl, n
	case !unicode.IsPrint(r), unicode.Is(blank, r):
		return KindInvisible, n
	}
	return "", 0
}

// blank holds characters that count as printable and yet show nothing: those
// of Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt) that
// are letters or marks, and the empty Braille pattern.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1},
		{Lo: 0x115F, Hi: 0x1160, Stride: 1},
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1},
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1},
		{Lo: 0xFFFC, Hi: 0xFFFD, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0xE0100, Hi: 0xE01EF, Stride: 1},
	},
}
