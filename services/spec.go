package services

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Where a definition comes from.
const (
	OriginService = "service" // a folder below ~/.zeroclaw/services
	OriginServer  = "server"  // [[mcp.servers]] of the configuration
	OriginBuiltin = "builtin" // inside the companion
)

// How a server is reached.
const (
	TransportStdio   = "stdio"   // a process that speaks MCP over its standard streams
	TransportHTTP    = "http"    // Streamable HTTP
	TransportSSE     = "sse"     // HTTP+SSE of revision 2024-11-05
	TransportJSONRPC = "jsonrpc" // JSON-RPC 2.0 by POST, without a handshake
)

// Limits that hold where a Spec leaves a field zero.
const (
	// DefaultHandshakeTimeout is how long a server may take from its start to
	// its tools being listed. Slow starters (8 s) are normal; with the end of
	// a process that hangs the whole stays below 30 s.
	DefaultHandshakeTimeout = 25 * time.Second
	// DefaultCallTimeout is how long a call may be silent. Progress starts it
	// anew.
	DefaultCallTimeout = 180 * time.Second
	// MaxCallDuration bounds a call however much progress it reports.
	MaxCallDuration = 10 * time.Minute
	// DefaultProbe is the time between two probes of a running server.
	DefaultProbe = 60 * time.Second
	// DefaultMaxResponse is the largest answer of a remote server in bytes, as
	// it comes over the wire: 10 MiB in base64 and 2 MiB around them.
	DefaultMaxResponse = 16_078_168
	// MaxTools bounds how many tools of one server are offered.
	MaxTools = 2000
)

// Spec is one server's definition, whatever its origin. It is a plain value;
// the slices and maps in it are not changed after it was given away.
type Spec struct {
	// Name is the id of a service or the name of a configured server, unique
	// within one Supervisor.
	Name   string
	Origin string
	// DisplayName and Description are texts by language ("en", "es").
	DisplayName, Description map[string]string
	// Help is a page that explains the server, or "".
	Help string

	// Transport is one of the constants above.
	Transport string
	// Command and Args are the argv, never read by a shell. A Command with a
	// slash is taken relative to Dir, one without is looked up on the PATH.
	Command string
	Args    []string
	// Env are KEY=VALUE entries that are added to the allow-list of the
	// companion's own environment.
	Env []string
	// Cwd is the working folder; "" = Dir, and without Dir the default root,
	// or the home folder where there is none.
	Cwd string
	// Dir is the service's own folder, absolute ("" for a configured server).
	Dir string

	// URL, Headers, CACertPath and MaxResponseBytes are for the transports over
	// HTTP. Headers may hold secrets. CACertPath is a PEM file that is added to
	// the system's authorities ("" = none). MaxResponseBytes: 0 =
	// DefaultMaxResponse.
	URL              string
	Headers          map[string]string
	CACertPath       string
	MaxResponseBytes int64

	// HandshakeTimeout, CallTimeout, MaxDuration and Probe: zero takes the
	// default above, a negative Probe switches probing off.
	HandshakeTimeout, CallTimeout, MaxDuration, Probe time.Duration
	// IdleStop stops the server after this time without a call; the next call
	// starts it again. 0 = never.
	IdleStop time.Duration
	// Disabled keeps the definition without ever connecting: it is listed as
	// stopped, and nothing starts it.
	Disabled bool

	// Options are what a user can set. Their values are applied at each start
	// by Expand; it also replaces ${…} in Command, Args, Env and Cwd, and only
	// does so for OriginService.
	Options []Option
	// Installer says what has to be installed before the first start; nil =
	// nothing.
	Installer *Installer
	// Autostart starts the server with the companion. For a service it counts
	// only once a person has started this very launch by hand.
	Autostart bool

	// Protocol is the MCP revision that was spoken last ("" = not known): a
	// Connector tries that era first.
	Protocol string

	// Invalid is set for a definition that cannot be used. It is listed with
	// its reason and cannot be started.
	Invalid *ManifestError
}

// Kinds of Option.
const (
	OptionBoolean = "boolean"
	OptionString  = "string"
	OptionEnum    = "enum"
	OptionPath    = "path"
)

// Option is one setting of a service.
type Option struct {
	ID, Type           string
	Label, Description map[string]string
	// Default is a bool for OptionBoolean, else a string.
	Default any
	// Choices are the values of an OptionEnum.
	Choices []string
	// ArgsWhenTrue and ArgsWhenFalse are appended for a boolean.
	ArgsWhenTrue, ArgsWhenFalse []string
	// Args and Env are added while the value is true or not empty.
	Args []string
	Env  map[string]string
}

// Installer says how a service's program is brought onto the machine.
type Installer struct {
	// Type is "npm" or "python".
	Type string
	// Packages are name and exact version.
	Packages map[string]string
	// NodeMajor is the lowest Node.js major version (npm; 0 = 18).
	NodeMajor int
}

// launchHash identifies what a start of s would run or reach, options aside.
// Autostart of a service is bound to it.
func launchHash(s Spec) string {
	parts := []any{s.Transport, s.Command, s.Args, s.Env, s.Cwd, s.Dir, s.Options}
	if s.remote() {
		parts = append(parts, s.URL, s.Headers, s.CACertPath)
	}
	return hashOf(parts...)
}

// sourceHash identifies the server behind s, so that what is known of it is
// not taken for another's. A new token does not make it another.
func sourceHash(s Spec) string {
	return hashOf(s.Transport, s.Command, s.Args, s.Cwd, s.Dir, s.URL)
}

func hashOf(parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// remote reports whether s is reached over HTTP.
func (s Spec) remote() bool { return s.Transport != TransportStdio && s.Transport != "" }

func (s Spec) handshakeTimeout() time.Duration {
	return orDefault(s.HandshakeTimeout, DefaultHandshakeTimeout)
}
func (s Spec) callTimeout() time.Duration { return orDefault(s.CallTimeout, DefaultCallTimeout) }
func (s Spec) maxDuration() time.Duration {
	return max(orDefault(s.MaxDuration, MaxCallDuration), s.callTimeout())
}
func (s Spec) probe() time.Duration { return orDefault(s.Probe, DefaultProbe) }

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}
