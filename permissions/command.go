package permissions

// Command is what is known about the text of one execute_command call.
// Package permissions/shellscan fills Text to Operands from the text alone;
// permissions/resolve adds the facts below them.
type Command struct {
	Text  string
	Class CommandClass
	Why   string // for a class other than Simple: a sentence that says what in the text makes it ask
	Marks []Mark // the bytes of Text that Why speaks of, in order, not overlapping

	Argv     []string  // Simple and Unmodelled: the words after quote removal
	Operands []Operand // Simple: every path that the command reads, lists, writes or deletes
	Words    []string  // every word-like piece of the text, for any class, used to see whether it names own state

	Binary     string // Simple: absolute path of the program on the fixed system PATH; "" when it is not installed
	Cwd        Path   // the folder it runs in, judged for OpList
	CwdInRoot  bool   // Cwd is the session's root or inside it
	Paths      []Path // Simple: the facts of Operands, in order; "dest/basename" is already put together
	NamesState bool   // the text names the companion's own state
}

// CommandClass is the answer of a scan.
type CommandClass string

// The three answers: a simple command is decided by the rules, an unmodelled
// one asks and may be remembered exactly as it stands, an ambiguous one asks
// for that call only.
const (
	Simple     CommandClass = "simple"
	Unmodelled CommandClass = "unmodelled"
	Ambiguous  CommandClass = "ambiguous"
)

// Mark is a half-open range of bytes.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Operand is one path that a simple command touches.
type Operand struct {
	Text    string // the word after quote removal, or "." where the command implies it
	Op      Op
	Walk    bool   // the command walks everything below
	Parents bool   // folders that are missing above Text are made as well
	Late    bool   // a flag or its value, behind a file: a system that stops reading flags there takes it for a file too
	Into    string // not "": when Text is an existing folder, Text + "/" + Into is what is written (cp, mv)
}
