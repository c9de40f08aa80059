package permissions

// Rule is one parsed line of the allowed directories.
type Rule struct {
	Line    int    // 1-based line in its list
	Text    string // as written, outer spaces removed
	Read    bool
	Write   bool
	Pattern string // after the colon, slash-separated
	// unexported: the fixed prefix and the segments behind it
}

// InvalidRule is a line that is no rule.
type InvalidRule struct {
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Message string `json:"message"`
}

// ParseRules reads rules, one a line or element. Blank lines and comments are
// skipped. Bad lines do not harm the others.
func ParseRules(lines []string) ([]Rule, []InvalidRule) { panic("unwritten") }

// Prefix is the part of the pattern before its first wildcard segment, as
// written: "./docs", "~/x", "/etc", "..". For a pattern without a wildcard it
// is the entire pattern.
func (r Rule) Prefix() string { panic("unwritten") }

// RuleStatus says whether an anchored rule covers anything.
type RuleStatus string

// The states of a rule under one root.
const (
	RuleActive    RuleStatus = "active"
	RuleMoved     RuleStatus = "moved"     // its prefix resolves to another place than when it was saved
	RuleElsewhere RuleStatus = "elsewhere" // relative, and saved for another root
	RuleInvalid   RuleStatus = "invalid"
)

// Anchored is a Rule together with what its fixed prefix resolves to on this
// machine. Only an active one covers anything.
type Anchored struct {
	Rule
	Base   string // the resolved prefix: absolute, slash-separated
	Status RuleStatus
	Fold   bool // the volume of Base folds case
	NFC    bool // the volume of Base normalises names
}

// Covers reports whether the rule grants p.Op on p.Real.
func (a Anchored) Covers(p Path) bool { panic("unwritten") }
