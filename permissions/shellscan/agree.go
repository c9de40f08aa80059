package shellscan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// agree asks the second reader. It returns a finding unless mvdan.cc/sh reads
// the text as one plain call with exactly these words.
func agree(text string, words []word) []Finding {
	args, ok := call(text)
	if ok && len(args) == len(words) {
		same := true
		for i, a := range args {
			w := words[i]
			lit, plain := literal(a)
			same = same && plain && lit == w.text &&
				int(a.Pos().Offset()) == w.start && int(a.End().Offset()) == w.end
		}
		if same {
			return nil
		}
	}
	return []Finding{{Kind: KindDisagree, Start: 0, End: len(text)}}
}

// call returns the words of a text that is one command without anything
// around it.
func call(text string) ([]*syntax.Word, bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	s := file.Stmts[0]
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(s.Comments) > 0 || s.Semicolon.IsValid() {
		return nil, false
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return nil, false
	}
	return c.Args, true
}

// literal is the text of a word that is made of plain and quoted parts only.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				unescape(&b, lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape removes the backslashes that the parser keeps inside double quotes.
func unescape(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
}
