package permissions

// Op is what a call does with one path.
type Op string

// The operations that rules are judged for.
const (
	OpRead   Op = "read"   // read the contents of a file
	OpList   Op = "list"   // read the entries of a folder
	OpWrite  Op = "write"  // create or change a file or folder
	OpDelete Op = "delete" // remove the entry itself
)

// Access is the letter of a rule that an operation needs: "R" or "W".
func (o Op) Access() string {
	if o == OpRead || o == OpList {
		return "R"
	}
	return "W"
}

// Origin says where a tool runs.
type Origin string

// Where tools come from. Only OriginLocal runs inside the companion; the
// other three are MCP servers and count as remote.
const (
	OriginLocal   Origin = "local"
	OriginService Origin = "service"
	OriginServer  Origin = "server"
	OriginBuiltin Origin = "builtin"
)

// Remote reports whether the tool belongs to an MCP server.
func (o Origin) Remote() bool { return o != OriginLocal && o != "" }
