package localserver

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
)

// toolSetting is the setting of one tool as the API shows it.
type toolSetting struct {
	Mode    permissions.Mode `json:"mode"`
	Enabled bool             `json:"enabled"`
}

// ruleView is one rule as it stands under the current root.
type ruleView struct {
	Line    int                    `json:"line"`
	Text    string                 `json:"text"`
	Status  permissions.RuleStatus `json:"status"`
	Base    string                 `json:"base,omitempty"`
	Message string                 `json:"message,omitempty"`
	// SavedFor are the roots under which a rule that counts elsewhere counts.
	SavedFor []string `json:"saved_for,omitempty"`
}

// permissionsView is what GET /api/permissions answers and PUT takes back.
type permissionsView struct {
	Version     string                    `json:"version"`
	Policy      permissions.GlobalPolicy  `json:"policy"`
	Directories []string                  `json:"directories"`
	Tools       map[string]toolSetting    `json:"tools"`
	Rules       []ruleView                `json:"rules"`
	Invalid     []permissions.InvalidRule `json:"invalid"`
	Grants      []approval.Remembered     `json:"grants"`
	Root        string                    `json:"root"`
}

func (s *Server) permissionsView() permissionsView {
	v := s.policy.Values()
	rules, invalid := s.policy.Rules(s.rootResolver())
	out := permissionsView{
		Version: v.Version, Policy: v.Policy, Directories: v.Directories, Tools: map[string]toolSetting{},
		Rules: []ruleView{}, Invalid: invalid, Grants: s.memory.List(), Root: s.Root(),
	}
	if out.Directories == nil {
		out.Directories = []string{}
	}
	if out.Invalid == nil {
		out.Invalid = []permissions.InvalidRule{}
	}
	if out.Grants == nil {
		out.Grants = []approval.Remembered{}
	}
	for name, t := range v.Tools {
		mode := t.Mode
		if mode == "" {
			mode = permissions.ModeAsk
		}
		out.Tools[name] = toolSetting{mode, !t.Off}
	}
	for _, r := range rules {
		view := ruleView{Line: r.Line, Text: r.Text, Status: r.Status, Base: r.Base}
		switch r.Status {
		case permissions.RuleMoved:
			view.Message = "its folder now leads somewhere else than when the rule was saved, so it covers nothing"
		case permissions.RuleElsewhere:
			view.Message = "it was saved for another root, so it covers nothing here"
			view.SavedFor = s.policy.SavedFor(r.Text)
		}
		out.Rules = append(out.Rules, view)
	}
	return out
}

// getPermissions serves GET /api/permissions.
func (s *Server) getPermissions(w http.ResponseWriter, _ *http.Request) {
	guard.WriteJSON(w, http.StatusOK, s.permissionsView())
}

// putPermissions serves PUT /api/permissions: all of it is saved, or nothing.
func (s *Server) putPermissions(w http.ResponseWriter, r *http.Request) {
	var in permissionsView
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	old := s.policy.Values()
	if in.Version != old.Version {
		guard.WriteError(w, configError(config.ErrChanged, "changed_meanwhile"))
		return
	}
	if in.Directories == nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "directories", Message: "send the list of rules, an empty one to remove them all; nothing was saved"})
		return
	}
	edits, err := s.permissionEdits(in)
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	if len(edits) > 0 {
		if _, err := s.file.Set(r.Context(), in.Version, edits); err != nil {
			guard.WriteError(w, configError(err, "changed_meanwhile"))
			return
		}
	}
	err = s.permissionsSaved(old, in)
	s.permissionsChanged() // the file is saved, whatever came after
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusInternalServerError, Code: "not_saved",
			Message: "the settings are saved, what belongs to them is not; save them again: " + err.Error()})
		return
	}
	guard.WriteJSON(w, http.StatusOK, s.permissionsView())
}

// permissionsSaved does what follows from permissions that were saved. All of
// it is tried.
func (s *Server) permissionsSaved(old session.Values, in permissionsView) error {
	var errs []error
	if !slices.Equal(old.Directories, in.Directories) {
		added := slices.DeleteFunc(slices.Clone(in.Directories), func(rule string) bool { return slices.Contains(old.Directories, rule) })
		errs = append(errs, s.policy.Saved(added, s.rootResolver()))
	}
	// Choosing Ask or Deny takes back what was remembered for the tool.
	for name, t := range in.Tools {
		before := old.Tools[name].Mode
		if before == "" {
			before = permissions.ModeAsk
		}
		if t.Mode != permissions.ModeAllow && before != t.Mode {
			errs = append(errs, s.memory.DropTool(name))
		}
	}
	return errors.Join(errs...)
}

// permissionEdits turns the wanted permissions into edits of the
// configuration, only for what differs.
func (s *Server) permissionEdits(in permissionsView) ([]config.Edit, error) {
	now := s.permissionsView()
	var edits []config.Edit
	if in.Policy != now.Policy {
		if in.Policy != permissions.PolicyAsk && in.Policy != permissions.PolicyAllowAll {
			return nil, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "policy", Message: "choose ask or allow_all"}
		}
		edits = append(edits, config.Edit{Path: "permissions.policy", Value: string(in.Policy)})
	}
	if !slices.Equal(in.Directories, now.Directories) {
		if _, invalid := permissions.ParseRules(in.Directories); len(invalid) > 0 {
			return nil, &guard.Error{Status: http.StatusBadRequest, Code: "invalid_rule", Field: "directories",
				Message: fmt.Sprintf("line %d is no rule: %s; nothing was saved", invalid[0].Line, invalid[0].Message),
				Beside:  map[string]any{"lines": invalid}}
		}
		edits = append(edits, config.Edit{Path: "permissions.directories", Value: in.Directories})
	}
	for _, name := range slices.Sorted(maps.Keys(in.Tools)) {
		t := in.Tools[name]
		before, known := now.Tools[name]
		if !known {
			before = toolSetting{permissions.ModeAsk, true}
		}
		if t == before {
			continue
		}
		if !slices.Contains([]permissions.Mode{permissions.ModeAsk, permissions.ModeAllow, permissions.ModeDeny}, t.Mode) {
			return nil, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "tools." + name + ".mode", Message: "choose ask, allow or deny"}
		}
		if !toolName.MatchString(name) {
			return nil, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "tools", Message: fmt.Sprintf("%q is not the full name of a tool", name)}
		}
		if t.Mode != before.Mode {
			edits = append(edits, config.Edit{Path: "permissions.tools." + name + ".mode", Value: string(t.Mode)})
		}
		if t.Enabled != before.Enabled {
			edits = append(edits, config.Edit{Path: "permissions.tools." + name + ".enabled", Value: t.Enabled})
		}
	}
	return edits, nil
}

// postRebase serves POST /api/permissions/rebase.
func (s *Server) postRebase(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Rule string `json:"rule"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if err := s.policy.Rebase(in.Rule, s.rootResolver()); err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "rule", Message: err.Error()})
		return
	}
	s.permissionsChanged()
	guard.WriteJSON(w, http.StatusOK, s.permissionsView())
}

// permissionsChanged tells everybody that other calls may be let through now, and
// other tools listed.
func (s *Server) permissionsChanged() {
	s.hub.Publish("permissions.changed", struct{}{})
	s.mcp.ToolsChanged()
}

// saveRule adds one line to the allowed directories. It backs the answer
// "always, with this rule", which was shown as it resolves under root.
func (s *Server) saveRule(rule string, root *resolve.Resolver) error {
	done := s.policy.Adopt(rule, root)
	_, err := s.file.Update(s.ctx, func(*config.Settings) ([]config.Edit, error) {
		return []config.Edit{{Op: config.Add, Path: "permissions.directories", Value: rule}}, nil
	})
	// The rule may have been in the file already, for another root.
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	s.permissionsChanged()
	return nil
}

// deleteGrant serves DELETE /api/permissions/grants/{id}.
func (s *Server) deleteGrant(w http.ResponseWriter, r *http.Request) {
	found, err := s.memory.Revoke(r.PathValue("id"))
	if err == nil && !found {
		err = &guard.Error{Status: http.StatusNotFound, Code: "unknown_grant", Message: "there is no such remembered decision; it may have been revoked already"}
	}
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	s.permissionsChanged()
	w.WriteHeader(http.StatusNoContent)
}

// postReset serves POST /api/permissions/reset.
func (s *Server) postReset(w http.ResponseWriter, _ *http.Request) {
	if err := s.memory.Reset(); err != nil {
		guard.WriteError(w, err)
		return
	}
	s.permissionsChanged()
	guard.WriteJSON(w, http.StatusOK, s.permissionsView())
}
