package permissions

// Level is how much a risk profile lets an agent do on its own.
type Level string

// The levels; "" counts as LevelSupervised.
const (
	LevelReadonly   Level = "readonly"
	LevelSupervised Level = "supervised"
	LevelFull       Level = "full"
)

// Profile is a risk profile. Names in its lists are exact full names of
// tools; "*" alone stands for all in AutoApprove and AlwaysAsk.
type Profile struct {
	Level         Level
	AutoApprove   []string
	AlwaysAsk     []string
	AllowedTools  []string // empty: no restriction
	ExcludedTools []string
}

// Bundle names servers that agents may be granted; Exclude wins over every
// bundle of the agent.
type Bundle struct {
	Servers []string
	Exclude []string
}

// Server is what the policy needs to know of one server definition.
type Server struct {
	Name            string
	Origin          Origin
	Tools           []string // the ceiling, in the server's own names; empty: all
	RequireApproval []string // own names that always ask
}

// Agent is an alias with its profile and bundles. A nil pointer in the maps
// that Resolve takes never stands for "everything".
type Agent struct {
	Name    string
	Profile string
	Bundles []string
	Tools   map[string][]string // by server: own names of the tools it may use; absent: all of that server
	Media   []string            // servers whose images and audio are admitted
}

// Inputs is everything that a Grant is computed from.
type Inputs struct {
	Agent      string
	Agents     map[string]Agent
	Bundles    map[string]Bundle
	Profiles   map[string]Profile
	Servers    []Server // every known definition
	Started    []string // services that the user has started in the page
	MCPEnabled bool
	Allowed    *[]string // per-run list: nil for none, empty for nothing
	Parent     *Grant    // a child session gets the intersection
}

// Warning is something that narrows a grant and that the user should see.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Grant is what one agent may reach, frozen when its session starts. The zero
// Grant reaches nothing.
type Grant struct {
	Agent   string
	Profile Profile
	Servers map[string]Server // granted servers by name
	// unexported: access lists, the per-run list and the parent
}

// NewGrant computes the grant of a session. Unknown names grant nothing and
// become warnings.
func NewGrant(in Inputs) (Grant, []Warning) { panic("unwritten") }

// Reaches reports whether a tool is inside the grant: its server, the ceiling,
// the agent's access, the profile's lists, the per-run list and the parent's
// grant.
func (g Grant) Reaches(tool string, origin Origin, server, ownName string) bool { panic("unwritten") }
