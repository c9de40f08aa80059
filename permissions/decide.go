package permissions

// Decision is the outcome of Decide.
type Decision string

// The decisions. Error means that the call cannot be judged at all (an
// impossible path): it is refused without a question.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
	Error Decision = "error"
)

// Verdict is what Decide says about one call.
type Verdict struct {
	Decision Decision
	Row      int      // row of the order in SECURITY.md that decided, 0 to 14
	Rule     string   // the rule, list or setting that decided, as the user wrote it; "" if none
	Reason   string   // one sentence for the user
	Code     string   // stable name for refusals: "unknown_tool", "tool_off", "own_state", "tool_denied", "readonly", "bad_path"
	OnceOnly bool     // Ask: an answer counts for this call only (rows 5, 7, 10, 11)
	Proposed []string // Ask: rules that would have covered the call, to be shown before they are saved; nil where none fits

	// Key names the sentence of Reason and Args fill it in, so that a page can
	// say it in another language. The keys are those of the Key constants.
	Key  string
	Args map[string]string
}

// Mode is what a tool does when it is called.
type Mode string

// The modes. ModeAsk is the default and does not stop rules and remembered
// decisions from allowing.
const (
	ModeAsk   Mode = "ask"
	ModeAllow Mode = "allow"
	ModeDeny  Mode = "deny"
)

// GlobalPolicy is the policy for everything that nothing else decides.
type GlobalPolicy string

// The two policies.
const (
	PolicyAsk      GlobalPolicy = "ask"
	PolicyAllowAll GlobalPolicy = "allow_all"
)

// ToolSetting is what the user set for one tool, by full name. The zero value
// is the default: on, ask.
type ToolSetting struct {
	Mode Mode // "" is ModeAsk
	Off  bool // the On/Off switch
}

// Remembered is a decision that a person gave for longer than one call.
type Remembered struct {
	Tool           string // full name
	DefinitionHash string // the definition it was given for; a decision for another one is void
	Command        string // execute_command: exactly this command …
	Cwd            string // … in this resolved folder; both "" for a decision about another tool
}

// Settings is the live part of the policy: edits count from the next call on.
type Settings struct {
	Policy     GlobalPolicy
	Rules      []Anchored
	Tools      map[string]ToolSetting
	Remembered []Remembered // those of the session and the permanent ones
}

// Request is one call with all the facts about it.
type Request struct {
	Tool    string // full name
	Origin  Origin
	Server  string // "" for a local tool
	OwnName string // the server's own name of the tool

	Hidden         bool   // deferred or filtered out this turn
	DefinitionHash string // hash of the definition as it is now
	Changed        bool   // it differs from the one a person accepted

	Paths   []Path   // file tools; nil otherwise
	Command *Command // execute_command; nil otherwise
}

// CommandTool is the tool that runs commands: the only one that Decide judges
// by a Command.
const CommandTool = "execute_command"

// readonlyTools are what a readonly agent may call.
var readonlyTools = []string{"read_file", "list_directory", "search_files", "tool_search", "read_tool_result"}

// fileTools are the local tools that the rules judge by their paths.
var fileTools = []string{"read_file", "edit_file", "list_directory", "search_files"}
