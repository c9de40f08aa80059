package permissions

import (
	"slices"
	"strings"
)

// Decide applies the order of the specification: the first row that applies
// decides. It is the only function that says whether a call may run.
//
// An impossible operand of a command asks (row 0), but only behind the rows
// that refuse and behind the policies that ask nothing: a question must never
// weaken a refusal.
func Decide(s Settings, g Grant, r Request) Verdict {
	for _, row := range [...]func(Settings, Grant, Request) *Verdict{
		badPath,           // 0
		notReached,        // 1
		ownState,          // 2
		toolDenied,        // 3
		readonly,          // 4
		serverAsks,        // 5
		levelFull,         // 6
		alwaysAsk,         // 7
		allowAll,          // 8
		definitionChanged, // 9
		badOperand,        // 0, for commands
		ambiguous,         // 10
		protectedName,     // 11
		toolAllowed,       // 12
		covered,           // 13
	} {
		if v := row(s, g, r); v != nil {
			return *v
		}
	}
	return undecided(s, r) // 14
}

func badPath(_ Settings, _ Grant, r Request) *Verdict {
	for _, p := range r.Paths {
		if p.Err != "" {
			return impossible(p)
		}
	}
	if r.Command != nil && r.Command.Cwd.Err != "" {
		return impossible(r.Command.Cwd)
	}
	return nil
}

func impossible(p Path) *Verdict {
	return verdict(Error, 0, KeyBadPath, "path", short(p.Given), "why", p.Err)
}

func notReached(s Settings, g Grant, r Request) *Verdict {
	if r.Hidden || !g.Reaches(r.Tool, r.Origin, r.Server, r.OwnName) {
		return verdict(Deny, 1, KeyUnknownTool, "tool", short(r.Tool))
	}
	if s.Tools[r.Tool].Off {
		return verdict(Deny, 1, KeyToolOff, "tool", r.Tool)
	}
	return nil
}

func ownState(_ Settings, _ Grant, r Request) *Verdict {
	for _, p := range r.touched() {
		if p.OwnState {
			return verdict(Deny, 2, KeyOwnState, "path", short(p.Given))
		}
	}
	if r.Command != nil && r.Command.NamesState {
		return verdict(Deny, 2, KeyOwnStateCommand)
	}
	return nil
}

func toolDenied(s Settings, _ Grant, r Request) *Verdict {
	switch s.Tools[r.Tool].Mode {
	case "", ModeAsk, ModeAllow:
		return nil
	}
	return verdict(Deny, 3, KeyToolDenied, "tool", r.Tool)
}

func readonly(_ Settings, g Grant, r Request) *Verdict {
	if g.Profile.Level.rank() > 0 || !r.Origin.Remote() && slices.Contains(readonlyTools, r.Tool) {
		return nil
	}
	return verdict(Deny, 4, KeyReadonly, "tool", r.Tool)
}

func serverAsks(_ Settings, g Grant, r Request) *Verdict {
	if !r.Origin.Remote() || !slices.Contains(g.Servers[r.Server].RequireApproval, r.OwnName) {
		return nil
	}
	return verdict(Ask, 5, KeyRequireApproval, "tool", r.Tool, "server", r.Server).by("require_approval").once()
}

func levelFull(_ Settings, g Grant, r Request) *Verdict {
	if g.Profile.Level != LevelFull {
		return nil
	}
	return verdict(Allow, 6, KeyLevelFull, "tool", r.Tool).by("level")
}

func alwaysAsk(_ Settings, g Grant, r Request) *Verdict {
	entry, ok := namedIn(g.Profile.AlwaysAsk, r.Tool)
	if !ok {
		return nil
	}
	return verdict(Ask, 7, KeyAlwaysAsk, "tool", r.Tool, "entry", entry).by("always_ask").once()
}

func allowAll(s Settings, _ Grant, r Request) *Verdict {
	if s.Policy != PolicyAllowAll {
		return nil
	}
	return verdict(Allow, 8, KeyAllowAll, "tool", r.Tool).by("policy")
}

func definitionChanged(_ Settings, _ Grant, r Request) *Verdict {
	if !r.Changed {
		return nil
	}
	return verdict(Ask, 9, KeyDefinitionChanged, "tool", r.Tool)
}

func badOperand(_ Settings, _ Grant, r Request) *Verdict {
	if r.Command == nil {
		return nil
	}
	for _, p := range r.Command.Paths {
		if p.Err != "" {
			return verdict(Ask, 0, KeyBadOperand, "path", short(p.Given), "why", p.Err).once()
		}
	}
	return nil
}

func ambiguous(_ Settings, _ Grant, r Request) *Verdict {
	if r.Tool != CommandTool || r.Origin.Remote() {
		return nil
	}
	if c := r.Command; c != nil {
		if c.Class == Simple || c.Class == Unmodelled {
			return nil
		}
		if c.Why != "" {
			return verdict(Ask, 10, KeyAmbiguousWhy, "why", strings.TrimSuffix(c.Why, ".")).once()
		}
	}
	return verdict(Ask, 10, KeyAmbiguous).once()
}

func protectedName(_ Settings, _ Grant, r Request) *Verdict {
	for _, p := range r.touched() {
		if p.Protected != "" {
			key := KeyProtectedRead
			if p.Op.Access() == "W" {
				key = KeyProtectedWrite
			}
			return verdict(Ask, 11, key, "path", Visible(p.Real), "name", p.Protected).once()
		}
		if p.Op == OpWrite && p.Kind == KindFile && p.Links > 1 {
			return verdict(Ask, 11, KeyHardLinks, "path", Visible(p.Real)).once()
		}
	}
	return nil
}

func toolAllowed(s Settings, g Grant, r Request) *Verdict {
	if s.Tools[r.Tool].Mode == ModeAllow {
		return verdict(Allow, 12, KeyToolAllowed, "tool", r.Tool).by("allow")
	}
	if entry, ok := g.Profile.autoApproves(r.Tool); ok {
		return verdict(Allow, 12, KeyAutoApprove, "tool", r.Tool, "entry", entry).by("auto_approve")
	}
	for _, m := range s.Remembered {
		if !m.fits(r) {
			continue
		}
		if m.Command != "" {
			return verdict(Allow, 12, KeyRememberedCommand, "cwd", Visible(m.Cwd)).by("remembered")
		}
		return verdict(Allow, 12, KeyRemembered, "tool", r.Tool).by("remembered")
	}
	return nil
}

// fits reports whether a remembered decision is about this very call. A
// command is remembered byte for byte in its folder and never for the tool as
// a whole; a remote tool only for a definition that has a hash.
func (m Remembered) fits(r Request) bool {
	if m.Tool != r.Tool || m.DefinitionHash != r.DefinitionHash {
		return false
	}
	if r.Origin.Remote() {
		return m.DefinitionHash != "" && m.Command == "" && m.Cwd == ""
	}
	if r.Tool != CommandTool {
		return m.Command == "" && m.Cwd == ""
	}
	c := r.Command
	return c != nil && m.Command != "" && m.Command == c.Text && m.Cwd != "" && m.Cwd == c.Cwd.Real
}
