package session

import (
	"fmt"
	"slices"
	"strings"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
)

// Query is one question to the rule tester: a path with an operation, or a
// command. It is also one input line of zeroclaw explain --batch.
type Query struct {
	Root    string                   `json:"root"`
	Home    string                   `json:"home"`
	Rules   []string                 `json:"rules"`
	Op      permissions.Op           `json:"op"`
	Path    *string                  `json:"path"`
	Command *string                  `json:"command"`
	Cwd     string                   `json:"cwd"`
	Policy  permissions.GlobalPolicy `json:"policy"`
	Mode    string                   `json:"mode"` // ask, allow, deny or off: the mode of the tool that would be called
}

// Answer is what would happen.
type Answer struct {
	Verdict  permissions.Decision      `json:"verdict"`
	Row      int                       `json:"row"`
	Rule     string                    `json:"rule"`
	Reason   string                    `json:"reason"`
	Key      string                    `json:"key,omitempty"`
	Args     map[string]string         `json:"args,omitempty"`
	Class    permissions.CommandClass  `json:"class,omitempty"`
	Marks    []permissions.Mark        `json:"marks,omitempty"`
	Resolved []approval.Resolved       `json:"resolved"`
	Proposed []string                  `json:"proposed_rules,omitempty"`
	Inactive []string                  `json:"inactive_rules,omitempty"` // would have covered it, but cover nothing under this root
	Root     string                    `json:"root,omitempty"`           // what relative paths hang from
	Invalid  []permissions.InvalidRule `json:"invalid,omitempty"`
}

// toolFor is the local tool that does an operation.
func toolFor(op permissions.Op) string {
	switch op {
	case permissions.OpRead:
		return "read_file"
	case permissions.OpList:
		return "list_directory"
	}
	return "edit_file"
}

// maxAsked bounds the path or command of a query, in bytes.
const maxAsked = 1 << 20

// Explain answers a query with a judge, whose settings and grant are taken as
// they are. It runs nothing.
func Explain(j Judge, q Query) Answer {
	var name string
	plan := tools.Plan{Cwd: q.Cwd}
	switch {
	case q.Command != nil && q.Path != nil:
		return Unanswerable("say either a path or a command, not both")
	case q.Command != nil && len(*q.Command) > maxAsked, q.Path != nil && len(*q.Path) > maxAsked:
		return Unanswerable(fmt.Sprintf("the path or command is longer than %d KiB; a call takes less", maxAsked>>10))
	case q.Command != nil:
		name, plan.Command = "execute_command", *q.Command
	case q.Path == nil:
		return Unanswerable("say a path with op, or a command")
	case q.Op == permissions.OpRead, q.Op == permissions.OpList, q.Op == permissions.OpWrite, q.Op == permissions.OpDelete:
		name = toolFor(q.Op)
		plan.Uses = []tools.Use{{Path: *q.Path, Op: q.Op}}
	default:
		return Unanswerable("op must be read, write, list or delete")
	}
	if q.Mode != "" {
		set, ok := modeOf(q.Mode)
		if !ok {
			return Unanswerable("mode must be ask, allow, deny or off")
		}
		j.Settings.Tools = map[string]permissions.ToolSetting{name: set}
	}
	got := j.Decide(Subject{Spec: tools.Spec{Name: name, OwnName: name, Origin: permissions.OriginLocal}}, plan)
	v := got.Verdict
	a := Answer{Verdict: v.Decision, Row: v.Row, Rule: v.Rule, Reason: v.Reason, Key: v.Key, Args: v.Args, Resolved: []approval.Resolved{}}
	for _, rule := range v.Proposed {
		// One that is in the file already belongs to another root, or its folder has moved.
		if slices.ContainsFunc(j.Settings.Rules, func(r permissions.Anchored) bool { return r.Text == rule }) {
			a.Inactive = append(a.Inactive, rule)
		} else {
			a.Proposed = append(a.Proposed, rule)
		}
	}
	paths := got.Paths
	if c := got.Command; c != nil {
		a.Class, a.Marks, paths = c.Class, c.Marks, c.Paths
	}
	for _, p := range paths {
		a.Resolved = append(a.Resolved, approval.Resolved{Path: p.Real, Access: p.Op.Access(), Op: p.Op})
	}
	return a
}

// Unanswerable is the answer to a query that cannot be judged.
func Unanswerable(why string) Answer {
	return Answer{Verdict: permissions.Error, Reason: why, Resolved: []approval.Resolved{}}
}

func modeOf(s string) (permissions.ToolSetting, bool) {
	switch m := permissions.Mode(s); m {
	case permissions.ModeAsk, permissions.ModeAllow, permissions.ModeDeny:
		return permissions.ToolSetting{Mode: m}, true
	}
	return permissions.ToolSetting{Off: true}, s == "off"
}

// maxRules bounds the rules that one query brings along.
const maxRules = 10_000

// ExplainAlone answers a query from nothing but itself: its own root, home,
// rules and policy, with every local tool granted. It needs no running
// companion.
func ExplainAlone(q Query) Answer {
	res, err := resolve.New(resolve.Config{Root: q.Root, Home: q.Home, State: stateIn(q.Home)})
	if err != nil {
		return Unanswerable(err.Error())
	}
	if q.Policy == "" {
		q.Policy = permissions.PolicyAsk
	}
	if q.Policy != permissions.PolicyAsk && q.Policy != permissions.PolicyAllowAll {
		return Unanswerable("policy must be ask or allow_all")
	}
	if len(q.Rules) > maxRules {
		return Unanswerable(fmt.Sprintf("at most %d rules can be tried at once", maxRules))
	}
	rules, invalid := permissions.ParseRules(q.Rules)
	grant, _ := permissions.NewGrant(permissions.Inputs{Agent: permissions.BuiltinAgent, MCPEnabled: true})
	a := Explain(Judge{Resolver: res, Grant: grant, Settings: permissions.Settings{Policy: q.Policy, Rules: res.Anchor(rules, nil)}}, q)
	a.Invalid = invalid
	return a
}

func stateIn(home string) string {
	if home == "" {
		return ""
	}
	return strings.TrimRight(home, "/\\") + "/.zeroclaw"
}
