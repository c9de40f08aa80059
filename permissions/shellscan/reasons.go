package shellscan

import (
	"fmt"
	"strings"
)

// Kind names one reason for which a text is not simple. The values are stable:
// a translation may be keyed by them.
type Kind string

// Finding is one reason at one place: the bytes [Start, End) of the text.
type Finding struct {
	Kind  Kind
	Start int
	End   int
	Of    string // the program that the reason speaks about, "" for reasons of the grammar
}

// Reasons of the grammar: each makes a text ambiguous.
const (
	KindEmpty      Kind = "empty"
	KindTooLong    Kind = "too_long"
	KindUTF8       Kind = "invalid_utf8"
	KindNUL        Kind = "nul"
	KindNewline    Kind = "newline"
	KindReturn     Kind = "carriage_return"
	KindControl    Kind = "control_character"
	KindInvisible  Kind = "invisible_character"
	KindSpace      Kind = "unusual_space"
	KindQuote      Kind = "unfinished_quote"
	KindSequence   Kind = "sequence"
	KindAnd        Kind = "and"
	KindOr         Kind = "or"
	KindPipe       Kind = "pipe"
	KindBackground Kind = "background"
	KindRedirect   Kind = "redirection"
	KindHereDoc    Kind = "here_document"
	KindProcess    Kind = "process_substitution"
	KindCommand    Kind = "command_substitution"
	KindVariable   Kind = "variable"
	KindDollar     Kind = "dollar_quote"
	KindGroup      Kind = "group"
	KindBrace      Kind = "brace"
	KindGlob       Kind = "wildcard"
	KindTilde      Kind = "tilde"
	KindComment    Kind = "comment"
	KindHistory    Kind = "exclamation_mark"
	KindBackslash  Kind = "backslash"
	KindAssignment Kind = "assignment"
	KindKeyword    Kind = "keyword"
	KindDisagree   Kind = "readers_disagree"
)

// Reasons of the table: each makes a text unmodelled.
const (
	KindProgram    Kind = "unknown_program"
	KindPath       Kind = "program_by_path"
	KindFlag       Kind = "unknown_flag"
	KindValue      Kind = "flag_value"
	KindNoValue    Kind = "flag_without_value"
	KindFew        Kind = "too_few_operands"
	KindMany       Kind = "too_many_operands"
	KindDash       Kind = "dash_operand"
	KindPlus       Kind = "plus_operand"
	KindBlank      Kind = "empty_operand"
	KindOrder      Kind = "flag_after_operand"
	KindNameless   Kind = "source_without_name"
	KindExpression Kind = "find_expression"
	KindPowerShell Kind = "powershell"
)

// reasons holds the clause of each kind. %[1]s is the marked text, %[2]s the
// program.
var reasons = map[Kind]string{
	KindEmpty:      "the command is empty",
	KindTooLong:    "the command is longer than 16 KiB",
	KindUTF8:       "the command holds bytes that are not valid UTF-8",
	KindNUL:        "the command holds a NUL byte",
	KindNewline:    "a line break starts another command",
	KindReturn:     "the command holds a carriage return",
	KindControl:    "the command holds a control character",
	KindInvisible:  "the command holds a character that cannot be seen",
	KindSpace:      "the command holds a space that is neither a plain space nor a tab",
	KindQuote:      "a quote is never closed",
	KindSequence:   "%[1]s starts another command",
	KindAnd:        "%[1]s joins two commands",
	KindOr:         "%[1]s joins two commands",
	KindPipe:       "%[1]s passes the output on to another command",
	KindBackground: "%[1]s leaves a command running in the background",
	KindRedirect:   "%[1]s redirects input or output",
	KindHereDoc:    "%[1]s feeds text to the command",
	KindProcess:    "%[1]s runs another command and hands over its output",
	KindCommand:    "%[1]s is replaced by the output of another command",
	KindVariable:   "%[1]s is replaced by a value that cannot be known here",
	KindDollar:     "%[1]s starts a quote whose text is rewritten",
	KindGroup:      "%[1]s groups commands",
	KindBrace:      "%[1]s may be expanded to several words",
	KindGlob:       "%[1]s may be replaced by the names of files",
	KindTilde:      "%[1]s may be replaced by a home folder",
	KindComment:    "%[1]s may start a comment",
	KindHistory:    "%[1]s has a meaning of its own in a shell",
	KindBackslash:  "%[1]s changes the meaning of the next character",
	KindAssignment: "%[1]s sets a variable",
	KindKeyword:    "%[1]s is a word of the shell's own language",
	KindDisagree:   "two readers of shell syntax do not understand the command alike",

	KindProgram:    "%[1]s is not one of the programs that the rules know",
	KindPath:       "%[1]s names a program by its path, and the rules know programs only by their bare names",
	KindFlag:       "%[1]s is not a flag of %[2]s that the rules know",
	KindValue:      "%[1]s is not a value that the rules know for this flag of %[2]s",
	KindNoValue:    "%[1]s of %[2]s needs a value",
	KindFew:        "%[2]s is given fewer operands than it needs",
	KindMany:       "%[1]s is one operand more than the rules know for %[2]s",
	KindDash:       "%[1]s means standard input or output",
	KindPlus:       "%[1]s can be an old form of flag as well as a file",
	KindBlank:      "an operand is empty",
	KindOrder:      "%[1]s stands behind an operand of %[2]s, where not every system takes it for a flag",
	KindNameless:   "%[1]s has no name of its own that %[2]s could keep",
	KindExpression: "%[1]s is not a part of a find expression that the rules know",
	KindPowerShell: "commands run in PowerShell here, which the rules do not know",
}

// grammatical tells the reasons of the grammar from those of the table.
func grammatical(k Kind) bool {
	switch k {
	case KindProgram, KindPath, KindFlag, KindValue, KindNoValue, KindFew, KindMany, KindDash,
		KindPlus, KindBlank, KindOrder, KindNameless, KindExpression, KindPowerShell:
		return false
	}
	return true
}

const (
	spokenKinds = 2  // reasons that one sentence names
	spokenBytes = 40 // of the marked text
)

// sentence words the findings: the first two kinds by name, the others as a
// remark.
func sentence(text string, found []Finding) string {
	var clauses []string
	seen := map[Kind]bool{}
	for _, f := range found {
		if seen[f.Kind] {
			continue
		}
		seen[f.Kind] = true
		if len(clauses) < spokenKinds {
			clauses = append(clauses, clause(text, f))
		}
	}
	s := strings.Join(clauses, ", and ")
	if len(seen) > spokenKinds {
		s += ", and there is more of the kind"
	}
	tail := "; only a simple command can run by rule"
	if !grammatical(found[0].Kind) {
		tail = ", so the command has to be asked about"
	}
	s += tail + "."
	if s[0] >= 'a' && s[0] <= 'z' {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

func clause(text string, f Finding) string {
	format := reasons[f.Kind]
	if !strings.Contains(format, "%") {
		return format
	}
	return fmt.Sprintf(format, quoted(text[f.Start:f.End]), quoted(f.Of))
}

func quoted(s string) string {
	if len(s) > spokenBytes {
		cut := spokenBytes
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "…"
	}
	if strings.Contains(s, "`") {
		return `"` + s + `"`
	}
	return "`" + s + "`"
}
