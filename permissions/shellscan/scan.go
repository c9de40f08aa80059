package shellscan

import (
	"regexp"
	"runtime"
	"sync"

	"zeroclaw/permissions"
)

// MaxBytes is the longest text that can be anything but ambiguous.
const MaxBytes = 16 << 10

// Scan reads one command line. It fills Text, Class, Why, Marks, Argv, Operands
// and Words of the result and never fails: what it cannot vouch for is
// Ambiguous. On Windows nothing is Simple, since commands run in PowerShell.
func Scan(text string) permissions.Command {
	c, _ := Inspect(text)
	return c
}

// Inspect is Scan together with the findings that Why was made from, in the
// order of the text, for a caller that words them in another language.
func Inspect(text string) (permissions.Command, []Finding) {
	return inspect(text, runtime.GOOS)
}

func inspect(text, goos string) (permissions.Command, []Finding) {
	c, found := classify(text, goos)
	c.Words = pieces(text)
	return c, found
}

// classify is everything but the pieces.
func classify(text, goos string) (permissions.Command, []Finding) {
	c := permissions.Command{Text: text}
	words, found := lex(text)
	if len(found) == 0 {
		found = agree(text, words)
	}
	if len(found) > 0 {
		c.Class, c.Why, c.Marks = permissions.Ambiguous, sentence(text, found), marks(found)
		return c, found
	}
	for _, w := range words {
		c.Argv = append(c.Argv, w.text)
	}
	operands, bad := model(words)
	if bad == nil && goos == "windows" {
		bad = &Finding{Kind: KindPowerShell, Start: words[0].start, End: words[0].end}
	}
	if bad != nil {
		found = []Finding{*bad}
		c.Class, c.Why, c.Marks = permissions.Unmodelled, sentence(text, found), marks(found)
		return c, found
	}
	c.Class, c.Operands = permissions.Simple, operands
	return c, nil
}

// marks turns findings, which are in order, into ranges that do not overlap.
func marks(found []Finding) []permissions.Mark {
	var out []permissions.Mark
	for _, f := range found {
		if n := len(out); n > 0 && f.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
			continue
		}
		if f.End > f.Start {
			out = append(out, permissions.Mark{Start: f.Start, End: f.End})
		}
	}
	return out
}

// pattern is a regular expression that is compiled at its first use: a start of
// the companion pays for none, and most of its life scans no command.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
