package session

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools/atomicfile"
)

// Values are the permissions as the configuration holds them.
type Values struct {
	Version     string
	Policy      permissions.GlobalPolicy
	Directories []string // one rule each, as written
	Tools       map[string]permissions.ToolSetting
	// Unreadable is set while the configuration cannot be read: then nothing
	// that was remembered counts either.
	Unreadable bool
}

// Policy is the live part of the permissions: it follows the configuration
// and knows what the prefix of each rule resolved to when it was saved.
type Policy struct {
	path     string // state/rule-bases.json
	readOnly bool

	mu      sync.Mutex
	changes uint64 // counts Set
	values  Values
	rules   []permissions.Rule
	invalid []permissions.InvalidRule
	bases   map[string]resolve.Bases     // by root; "" for rules that do not hang from one
	damaged bool                         // the stored prefixes could not be read
	adopted map[string]*resolve.Resolver // rules being saved for another root than that of new sessions
}

// maxState bounds the file of stored prefixes, in bytes.
const maxState = 64 << 20

// OpenPolicy reads the stored prefixes. After an error no rule of the
// configuration covers anything until a person saves it again. A
// read-only policy never writes the file.
func OpenPolicy(path string, readOnly bool) (*Policy, error) {
	p := &Policy{path: path, readOnly: readOnly, bases: map[string]resolve.Bases{}, adopted: map[string]*resolve.Resolver{}}
	if _, err := atomicfile.ReadJSON(path, maxState, &p.bases); err != nil {
		p.bases, p.damaged = map[string]resolve.Bases{}, true
		return p, fmt.Errorf("read what the rules resolved to: %w", err)
	}
	if p.bases == nil { // the file says null
		p.bases = map[string]resolve.Bases{}
	}
	return p, nil
}

// Set takes over values that were loaded from the configuration. A rule that
// no root knows yet was written by hand and belongs to the given one. What a
// rule resolved to is kept even when it is missing from the values: an editor
// may have been seen halfway through saving.
func (p *Policy) Set(v Values, root *resolve.Resolver) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values = v
	p.changes++
	p.rules, p.invalid = permissions.ParseRules(v.Directories)
	bases := maps.Clone(p.bases)
	for _, r := range p.rules {
		if p.known(r) {
			continue
		}
		at := root
		if a := p.adopted[r.Text]; a != nil {
			at = a
		}
		if p.damaged && p.adopted[r.Text] == nil {
			note(bases, r, at, lost)
			continue
		}
		anchor(bases, r, at)
	}
	p.damaged = p.damaged && v.Unreadable
	return p.store(bases)
}

// lost stands for what a rule resolved to where nobody knows any more. No path
// equals it, so the rule counts as moved until a person saves it again.
const lost = "?"

// Adopt makes a rule that is about to be saved belong to the root of the given
// resolver, whatever the root of new sessions is. done ends that and makes
// sure of it, also where the rule was known for another root already.
func (p *Policy) Adopt(text string, root *resolve.Resolver) (done func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.adopted[text] = root
	return func() error {
		p.mu.Lock()
		delete(p.adopted, text)
		p.mu.Unlock()
		return p.Rebase(text, root)
	}
}

// Saved says that a person has just saved the rules as they are: those added
// belong to the given root as they resolve now, those that are gone are
// forgotten.
func (p *Policy) Saved(added []string, root *resolve.Resolver) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	bases := map[string]resolve.Bases{}
	for at, of := range p.bases {
		bases[at] = maps.Clone(of)
		maps.DeleteFunc(bases[at], func(text, _ string) bool {
			return slices.Contains(added, text) || !slices.ContainsFunc(p.rules, func(r permissions.Rule) bool { return r.Text == text })
		})
	}
	for _, r := range p.rules {
		if slices.Contains(added, r.Text) {
			anchor(bases, r, root)
		}
	}
	return p.store(bases)
}

// Rebase makes one rule cover what its prefix resolves to now, under the root
// of the given resolver.
func (p *Policy) Rebase(text string, root *resolve.Resolver) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.rules, func(r permissions.Rule) bool { return r.Text == text })
	if i < 0 {
		return fmt.Errorf("there is no rule %q", text)
	}
	bases := maps.Clone(p.bases)
	anchor(bases, p.rules[i], root)
	return p.store(bases)
}

func (p *Policy) known(r permissions.Rule) bool {
	for _, bases := range p.bases {
		if _, ok := bases[r.Text]; ok {
			return true
		}
	}
	return false
}

// anchor notes in bases what the prefix of a rule resolves to now.
func anchor(bases map[string]resolve.Bases, r permissions.Rule, root *resolve.Resolver) {
	if resolved, ok := root.Bases([]permissions.Rule{r}, nil)[r.Text]; ok {
		note(bases, r, root, resolved)
	}
}

// note keeps in bases what a rule resolves to under a root. The map of each
// root is shared with those in force, so it is replaced.
func note(bases map[string]resolve.Bases, r permissions.Rule, root *resolve.Resolver, resolved string) {
	at := ""
	if r.Relative() {
		at = root.Root()
	}
	of := maps.Clone(bases[at])
	if of == nil {
		of = resolve.Bases{}
	}
	of[r.Text] = resolved
	bases[at] = of
}

// store takes over and saves what rules resolve to. Called with mu held.
func (p *Policy) store(bases map[string]resolve.Bases) error {
	maps.DeleteFunc(bases, func(_ string, b resolve.Bases) bool { return len(b) == 0 })
	changed := !maps.EqualFunc(bases, p.bases, func(a, b resolve.Bases) bool { return maps.Equal(a, b) })
	p.bases = bases
	if !changed || p.readOnly {
		return nil
	}
	if err := atomicfile.WriteJSON(p.path, bases); err != nil {
		return fmt.Errorf("save what the rules resolve to: %w", err)
	}
	return nil
}

// Changes is a number that rises whenever Values may have changed.
func (p *Policy) Changes() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes
}

// Values returns the permissions as the configuration holds them.
func (p *Policy) Values() Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.values
}

// Rules returns every rule as it stands under the root of a resolver, and the
// lines that are no rules.
func (p *Policy) Rules(root *resolve.Resolver) ([]permissions.Anchored, []permissions.InvalidRule) {
	now := p.inForce(root.Root())
	// Prefixes are resolved anew for each verdict: one that has come to lead
	// elsewhere must stop covering at once.
	return root.Anchor(now.rules, now.bases), now.invalid
}

// inForce is one configuration as it counts under one root.
type inForce struct {
	values  Values
	rules   []permissions.Rule
	invalid []permissions.InvalidRule
	bases   resolve.Bases
}

// inForce takes everything at once, so that a verdict never mixes two
// configurations.
func (p *Policy) inForce(root string) inForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	bases := maps.Clone(p.bases[""])
	if bases == nil {
		bases = resolve.Bases{}
	}
	maps.Copy(bases, p.bases[root])
	return inForce{p.values, p.rules, p.invalid, bases}
}

// SavedFor names the roots that a relative rule was saved for.
func (p *Policy) SavedFor(text string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var roots []string
	for root, bases := range p.bases {
		if _, ok := bases[text]; ok && root != "" {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return roots
}

// Settings is what Decide takes, for one root and session.
func (p *Policy) Settings(root *resolve.Resolver, remembered []permissions.Remembered) permissions.Settings {
	now := p.inForce(root.Root())
	if now.values.Unreadable {
		remembered = nil
	}
	return permissions.Settings{
		Policy: now.values.Policy, Rules: root.Anchor(now.rules, now.bases), Tools: now.values.Tools, Remembered: remembered,
	}
}
