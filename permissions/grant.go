package permissions

import (
	"fmt"
	"maps"
	"slices"
)

// BuiltinAgent is the agent that exists without any configuration. It alone is
// also granted every service that the user has started.
const BuiltinAgent = "assistant"

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
	Off             bool     // switched off: it is known, but grants nothing
	Tools           []string // the ceiling, in the server's own names; empty: all
	RequireApproval []string // own names that always ask
}

// Agent is an alias with its profile and bundles. A nil pointer in the maps
// that NewGrant takes never stands for "everything".
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
// Grant reaches nothing. A Grant shares no memory with what it was made from
// and must not be changed.
type Grant struct {
	Agent   string
	Profile Profile
	Servers map[string]Server // granted servers by name

	valid   bool
	access  map[string][]string // by server: the agent's explicit lists
	media   []string
	allowed *[]string
	parent  *Grant
}

// NewGrant computes the grant of a session. Unknown names grant nothing and
// become warnings, in the order in which they are met.
func NewGrant(in Inputs) (Grant, []Warning) {
	var w warnings
	agent, known := in.Agents[in.Agent]
	if !known && in.Agent != BuiltinAgent {
		w.add("unknown_agent", "There is no agent %q, so the session reaches no tool.", in.Agent)
		return Grant{Agent: in.Agent}, w.list
	}
	profile, ok := grantedProfile(in, agent, &w)
	if !ok {
		return Grant{Agent: in.Agent}, w.list
	}
	definitions := map[string]Server{}
	for _, s := range in.Servers {
		definitions[s.Name] = s
	}
	g := Grant{Agent: in.Agent, Profile: profile, Servers: map[string]Server{}, valid: true}
	for _, n := range grantedServers(in, agent, definitions, &w) {
		s := definitions[n]
		s.Tools = slices.Clone(s.Tools)
		s.RequireApproval = slices.Clone(s.RequireApproval)
		g.Servers[n] = s
	}
	g.access, g.media = copyAccess(agent.Tools), slices.Clone(agent.Media)
	warnUnknown(in, agent, definitions, &w)
	if in.Allowed != nil {
		list := slices.Clone(*in.Allowed)
		g.allowed = &list
	}
	if in.Parent != nil {
		g.under(*in.Parent)
	}
	return g, w.list
}

// warnings are each kept once, in the order in which they are met.
type warnings struct{ list []Warning }

func (w *warnings) add(code, format string, args ...any) {
	if x := (Warning{code, fmt.Sprintf(format, args...)}); !slices.Contains(w.list, x) {
		w.list = append(w.list, x)
	}
}

// grantedProfile is the risk profile that an agent names. It is not ok when
// there is no such profile.
func grantedProfile(in Inputs, agent Agent, w *warnings) (profile Profile, ok bool) {
	if agent.Profile != "" {
		named, ok := in.Profiles[agent.Profile]
		if !ok {
			w.add("unknown_profile", "Agent %q uses the risk profile %q, which does not exist, so the session reaches no tool.", in.Agent, agent.Profile)
			return Profile{}, false
		}
		profile = named.clone()
	}
	switch profile.Level {
	case "", LevelReadonly, LevelSupervised, LevelFull:
	default:
		w.add("unknown_level", "The risk profile %q has the unknown level %q; it counts as readonly.", agent.Profile, profile.Level)
		profile.Level = LevelReadonly
	}
	return profile, true
}

// warnUnknown tells of servers that an agent's lists name in vain.
func warnUnknown(in Inputs, agent Agent, definitions map[string]Server, w *warnings) {
	for _, n := range slices.Sorted(maps.Keys(agent.Tools)) {
		if _, ok := definitions[n]; !ok {
			w.add("unknown_server", "Agent %q lists tools of the server %q, which does not exist.", in.Agent, n)
		}
	}
	for _, n := range agent.Media {
		if _, ok := definitions[n]; !ok {
			w.add("unknown_server", "Agent %q admits media of the server %q, which does not exist.", in.Agent, n)
		}
	}
}

// grantedServers is the union of the bundles in first-seen order, with the
// started services of the built-in agent behind it, less every exclude; none
// while MCP is off.
func grantedServers(in Inputs, agent Agent, definitions map[string]Server, w *warnings) []string {
	var names []string
	excluded := map[string]bool{}
	for _, alias := range agent.Bundles {
		b, ok := in.Bundles[alias]
		if !ok {
			w.add("unknown_bundle", "Agent %q names the bundle %q, which does not exist; it grants nothing.", in.Agent, alias)
			continue
		}
		for _, n := range b.Exclude {
			excluded[n] = true
			if _, ok := definitions[n]; !ok {
				w.add("unknown_server", "Bundle %q excludes the server %q, which does not exist.", alias, n)
			}
		}
		for _, n := range b.Servers {
			if _, ok := definitions[n]; !ok {
				w.add("unknown_server", "Bundle %q names the server %q, which does not exist; it grants nothing.", alias, n)
				continue
			}
			if definitions[n].Off {
				w.add("server_off", "Bundle %q names the server %q, which is switched off.", alias, n)
				continue
			}
			names = append(names, n)
		}
	}
	if in.Agent == BuiltinAgent {
		for _, n := range in.Started {
			if s, ok := definitions[n]; ok && s.Origin == OriginService {
				names = append(names, n)
			}
		}
	}
	var granted []string
	for _, n := range names {
		if !excluded[n] && !slices.Contains(granted, n) {
			granted = append(granted, n)
		}
	}
	if !in.MCPEnabled && len(granted) > 0 {
		w.add("mcp_disabled", "MCP is switched off in the configuration, so no server is granted.")
		return nil
	}
	return granted
}

// under makes g the grant of a child session of parent.
func (g *Grant) under(parent Grant) {
	for n := range g.Servers {
		s, ok := parent.Servers[n]
		if !ok {
			delete(g.Servers, n)
			continue
		}
		own := g.Servers[n]
		for _, t := range s.RequireApproval {
			if !slices.Contains(own.RequireApproval, t) {
				own.RequireApproval = append(own.RequireApproval, t)
			}
		}
		g.Servers[n] = own
	}
	g.Profile = g.Profile.narrow(parent.Profile)
	g.parent = &parent
}

func copyAccess(lists map[string][]string) map[string][]string {
	out := make(map[string][]string, len(lists))
	for n, l := range lists {
		out[n] = slices.Clone(l)
	}
	return out
}

// Reaches reports whether a tool is inside the grant: its server, the ceiling,
// the agent's access, the profile's lists, the per-run list and the parent's
// grant.
func (g Grant) Reaches(tool string, origin Origin, server, ownName string) bool {
	if !g.valid || tool == "" || !g.Profile.admits(tool, origin) || !g.inRun(tool) {
		return false
	}
	if origin.Remote() {
		s, ok := g.Servers[server]
		if !ok || s.Origin != "" && s.Origin != origin {
			return false
		}
		if len(s.Tools) > 0 && !slices.Contains(s.Tools, ownName) {
			return false
		}
		if list, explicit := g.access[server]; explicit && !slices.Contains(list, ownName) {
			return false
		}
	}
	return g.parent == nil || g.parent.Reaches(tool, origin, server, ownName)
}

// ReachesItem reports whether a resource or prompt of a server may be read:
// the server is granted and nothing excludes "<server>__<uri or name>". The
// tools mcp_resources and mcp_prompts ask it besides being reached themselves.
func (g Grant) ReachesItem(server, item string) bool {
	s, ok := g.Servers[server]
	if !g.valid || !ok {
		return false
	}
	origin := s.Origin
	if !origin.Remote() {
		origin = OriginServer
	}
	name := server + "__" + item
	if !g.Profile.admits(name, origin) || !g.inRun(name) {
		return false
	}
	return g.parent == nil || g.parent.ReachesItem(server, item)
}

// AdmitsMedia reports whether images and audio of a granted server may reach
// the model.
func (g Grant) AdmitsMedia(server string) bool {
	if _, ok := g.Servers[server]; !g.valid || !ok || !slices.Contains(g.media, server) {
		return false
	}
	return g.parent == nil || g.parent.AdmitsMedia(server)
}

func (g Grant) inRun(name string) bool {
	return g.allowed == nil || slices.Contains(*g.allowed, name)
}
