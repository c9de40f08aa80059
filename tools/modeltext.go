package tools

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts of a server that a model gets with its tools, in bytes.
const (
	MaxDescription = 4000
	maxSpaces      = 8 // in a row; more is padding that pushes text out of sight
	maxLineBreaks  = 2
)

// ModelDescription is the description of a tool in the form that goes to a
// model. That of a remote tool is data from outside, for which a model must not
// mistake it: it begins with the name of the server that wrote it, as every
// frame of tools/results does in its tag, and a model is told once, in the
// system prompt, what such texts are. (The field of the tool list it stands in
// is its frame: nothing in it can end it. A boundary per tool would cost a
// thousand tools 40,000 tokens and say no more.) Hidden characters are taken
// out, padding is shortened, and it is cut to MaxDescription with a note.
func ModelDescription(s Spec) string {
	text := s.Description
	if text == "" {
		text = s.Title
	}
	if !s.Origin.Remote() {
		return text
	}
	return "[server " + strings.ReplaceAll(ModelText(s.Server, 64), "\n", " ") + ", untrusted] " + ModelText(text, MaxDescription)
}

// ModelText is text of somebody else as a model gets it: of it every character
// that does not show is taken out (control and format characters, variation
// selectors, tags, fillers), rare spaces become plain ones, long rows of spaces
// and line breaks are shortened, and what is longer than limit bytes is cut with
// a note that says so. People are shown the text itself.
func ModelText(text string, limit int) string {
	if len(text) <= limit && isModelText(text) {
		return text
	}
	var b strings.Builder
	spaces, breaks := 0, 0
	for i, r := range text {
		if b.Len() >= limit {
			return fmt.Sprintf("%s [… %d more characters]", b.String(), utf8.RuneCountInString(text[i:]))
		}
		switch {
		case r == '\n':
			if breaks++; breaks > maxLineBreaks {
				continue
			}
			spaces = 0
		case r == '\t' || unicode.Is(unicode.Zs, r) || isBlank(r):
			if spaces++; spaces > maxSpaces {
				continue
			}
			if r != '\t' {
				r = ' '
			}
		case Hidden(r):
			continue
		default:
			spaces, breaks = 0, 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isModelText reports that text is printable ASCII with nothing to change, as
// most is.
func isModelText(text string) bool {
	spaces, breaks := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			spaces++
		case c == '\n':
			breaks++
			spaces = 0
		case c < ' ' || c >= 0x7f:
			return false
		default:
			spaces, breaks = 0, 0
		}
		if spaces > maxSpaces || breaks > maxLineBreaks {
			return false
		}
	}
	return true
}

// isBlank tells characters other than spaces that take up room and show nothing.
func isBlank(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x2028, 0x2029, 0x2800, 0x3164, 0xffa0:
		return true
	}
	return false
}

// Hidden tells characters that do not show or that change how others do. Line
// breaks and tabs are among them.
func Hidden(r rune) bool {
	return r == utf8.RuneError || !unicode.IsGraphic(r) || r == 0x34f || r == 0x17b4 || r == 0x17b5 ||
		r >= 0x180b && r <= 0x180f || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}
