package config

import (
	"strings"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/services"
)

// Settings is one immutable snapshot of the configuration: file, environment
// and defaults together. Nobody may change what hangs from it.
type Settings struct {
	// Version stands for the bytes of the file; Set refuses to save over
	// another one.
	Version string
	// Exists says whether there is a file at all.
	Exists bool
	// Unreadable: the file cannot be used; everything is the default that asks,
	// and remembered decisions should not count either. Set returns
	// ErrUnrepaired.
	Unreadable bool
	// Problems in the file and the environment, errors first.
	Problems []Problem
	// Overrides has, for each setting that an environment variable decides,
	// the name of the variable.
	Overrides map[string]string

	Server          Server
	Permissions     Permissions
	Providers       map[string]Provider // usable ones by name
	Secrets         Secrets
	MCP             MCP
	Bundles         map[string]permissions.Bundle
	Agents          map[string]permissions.Agent // the built-in assistant included
	Profiles        map[string]permissions.Profile
	RuntimeProfiles map[string]RuntimeProfile
	AgentRuntime    map[string]string // by agent: the name of its runtime profile

	root *node // the tree that all this came from
}

// Server is [server].
type Server struct {
	Port            int           // 1 to 65535
	UIOrigin        string        // "" for none
	ExitWhenIdle    time.Duration // 0 for never
	ApprovalTimeout time.Duration
}

// Permissions is [permissions].
type Permissions struct {
	Policy      permissions.GlobalPolicy
	Directories []string // as written, bad lines included
	Rules       []permissions.Rule
	Invalid     []permissions.InvalidRule
	Tools       map[string]permissions.ToolSetting // by full name
}

// Provider is one usable [providers.NAME].
type Provider struct {
	Name    string
	Kind    string // "openai" or "anthropic"
	BaseURL string // never empty: the public one of its kind by default
	Model   string
	Models  []string
	APIKey  string // plain; never leaves the process but in requests to BaseURL
}

// Secrets is [secrets].
type Secrets struct {
	Encrypt bool
	Vault   map[string]string // plain values that could be unsealed
}

// MCP is [mcp].
type MCP struct {
	Enabled  bool
	Deferred bool
	Servers  []permissions.Server // what the policy knows: well-formed ones, in order
	// Definitions are all entries, in order, those that cannot be used or are
	// switched off included. They hold secrets.
	Definitions []services.Spec
	Off         map[string]bool     // those that are switched off
	Pinned      map[string][]string // by server: resources that every session starts with
}

// RuntimeProfile is one [runtime_profiles.NAME].
type RuntimeProfile struct {
	Groups         []ToolFilterGroup
	MaxResultChars int
}

// ToolFilterGroup shows tools only when a message calls for them.
type ToolFilterGroup struct {
	Always   bool // mode "always"; else "dynamic"
	Tools    []string
	Keywords []string
}

// invalidProfile is the name of the profile that stands in for one that an
// agent names in a way that cannot be read.
const invalidProfile = "(invalid)"

// narrowest is the profile in place of a broken one: no tool that changes
// anything, and a question for the rest.
func narrowest() permissions.Profile {
	return permissions.Profile{Level: permissions.LevelReadonly, AlwaysAsk: []string{"*"}}
}

// builtinAgent exists without any configuration.
const builtinAgent = "assistant"

// defaultURL is the public address of each kind of provider.
var defaultURL = map[string]string{
	"openai":    "https://api.openai.com/v1",
	"anthropic": "https://api.anthropic.com",
}

// Written reports whether a bundle or profile is one of the file's, and not one
// that stands in for something broken.
func Written(name string) bool { return !strings.HasPrefix(name, invalidProfile) }
