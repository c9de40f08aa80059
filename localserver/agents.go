package localserver

import (
	"maps"
	"net/http"
	"slices"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/guard"
	"zeroclaw/permissions"
)

// agentView is one agent as Settings shows it.
type agentView struct {
	Name           string                `json:"name"`
	Builtin        bool                  `json:"builtin"`
	RiskProfile    string                `json:"risk_profile"`
	RuntimeProfile string                `json:"runtime_profile"`
	Bundles        []string              `json:"mcp_bundles"`
	Tools          map[string][]string   `json:"tools"`
	Media          []string              `json:"media"`
	Servers        []string              `json:"servers"` // that a new session would reach
	Warnings       []permissions.Warning `json:"warnings"`
}

type bundleView struct {
	Name    string   `json:"name"`
	Servers []string `json:"servers"`
	Exclude []string `json:"exclude"`
}

type riskView struct {
	Name     string            `json:"name"`
	Level    permissions.Level `json:"level"`
	Auto     []string          `json:"auto_approve"`
	Ask      []string          `json:"always_ask"`
	Allowed  []string          `json:"allowed_tools"`
	Excluded []string          `json:"excluded_tools"`
}

type runtimeView struct {
	Name     string      `json:"name"`
	Groups   []groupView `json:"tool_filter_groups"`
	MaxChars int         `json:"max_tool_result_chars"`
}

type groupView struct {
	Mode     string   `json:"mode"`
	Tools    []string `json:"tools"`
	Keywords []string `json:"keywords"`
}

// getAgents serves GET /api/agents.
func (s *Server) getAgents(w http.ResponseWriter, _ *http.Request) {
	now := s.file.Current()
	bundles := []bundleView{}
	for _, name := range slices.Sorted(maps.Keys(now.Bundles)) {
		if b := now.Bundles[name]; config.Written(name) {
			bundles = append(bundles, bundleView{name, list(b.Servers), list(b.Exclude)})
		}
	}
	risks := []riskView{}
	for _, name := range slices.Sorted(maps.Keys(now.Profiles)) {
		if p := now.Profiles[name]; config.Written(name) {
			risks = append(risks, riskView{name, p.Level, list(p.AutoApprove), list(p.AlwaysAsk), list(p.AllowedTools), list(p.ExcludedTools)})
		}
	}
	runtimes := []runtimeView{}
	for _, name := range slices.Sorted(maps.Keys(now.RuntimeProfiles)) {
		p := now.RuntimeProfiles[name]
		v := runtimeView{Name: name, Groups: []groupView{}, MaxChars: p.MaxResultChars}
		for _, g := range p.Groups {
			mode := "dynamic"
			if g.Always {
				mode = "always"
			}
			v.Groups = append(v.Groups, groupView{mode, list(g.Tools), list(g.Keywords)})
		}
		runtimes = append(runtimes, v)
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{
		"version": now.Version, "agents": s.agentViews(now), "bundles": bundles, "risk_profiles": risks, "runtime_profiles": runtimes,
	})
}

// list is never null in JSON.
func list(texts []string) []string { return append([]string{}, texts...) }

// agentViews are all agents, the built-in one first.
func (s *Server) agentViews(now *config.Settings) []agentView {
	out := []agentView{s.agentView(now, permissions.BuiltinAgent)}
	for _, name := range slices.Sorted(maps.Keys(now.Agents)) {
		if name != permissions.BuiltinAgent {
			out = append(out, s.agentView(now, name))
		}
	}
	return out
}

func (s *Server) agentView(now *config.Settings, name string) agentView {
	a := now.Agents[name]
	v := agentView{Name: name, Builtin: name == permissions.BuiltinAgent, RiskProfile: a.Profile, RuntimeProfile: now.AgentRuntime[name],
		Bundles: list(a.Bundles), Tools: map[string][]string{}, Media: list(a.Media), Servers: []string{}, Warnings: []permissions.Warning{}}
	for server, names := range a.Tools {
		v.Tools[server] = list(names)
	}
	if view, servers, err := s.sessions.Preview(name); err == nil {
		v.Servers, v.Warnings = list(servers), append(v.Warnings, view.Warnings...)
	}
	return v
}

// getAgent serves GET /api/agents/{name}: what a new session of the agent would
// reach.
func (s *Server) getAgent(w http.ResponseWriter, r *http.Request) {
	now, name := s.file.Current(), r.PathValue("name")
	view, _, err := s.sessions.Preview(name)
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusNotFound, Code: "unknown_agent", Message: err.Error()})
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"agent": s.agentView(now, name), "tools": view.Tools, "warnings": view.Warnings})
}
