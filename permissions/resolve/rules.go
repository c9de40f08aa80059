package resolve

import (
	"strings"

	"zeroclaw/permissions"
)

// Bases says what the fixed prefixes of rules resolved to when they were saved,
// by the text of the rule and for one root. The values are valid UTF-8
// (permissions.EncodePath), so that they can be kept in JSON.
type Bases map[string]string

// Bases returns what to keep when rules are saved: for each of them what old
// says, or what its prefix resolves to now. A rule that no path fits has no
// entry. "Use here too" is the same call for another root.
func (r *Resolver) Bases(rules []permissions.Rule, old Bases) Bases {
	out := Bases{}
	for _, rule := range rules {
		if kept, ok := old[rule.Text]; ok {
			out[rule.Text] = kept
			continue
		}
		if at, why := r.base(rule, lstatSlash); why == "" {
			out[rule.Text] = permissions.EncodePath(at.real)
		}
	}
	return out
}

// Anchor resolves the fixed prefix of each rule and says what it is worth under
// this root. Without bases every rule counts as saved just now. With them, one
// that resolves to another place has moved, and a relative one that they do not
// know was saved for another root.
func (r *Resolver) Anchor(rules []permissions.Rule, bases Bases) []permissions.Anchored {
	out := make([]permissions.Anchored, 0, len(rules))
	look := remembering() // most rules lie in the same few folders
	for _, rule := range rules {
		a := permissions.Anchored{Rule: rule, Status: permissions.RuleActive}
		at, why := r.base(rule, look)
		saved, known := bases[rule.Text]
		switch {
		case why != "":
			a.Status = permissions.RuleInvalid
		case bases == nil:
		case known && saved != permissions.EncodePath(at.real):
			a.Status = permissions.RuleMoved
		case !known && rule.Relative():
			a.Status = permissions.RuleElsewhere
		}
		if why == "" {
			a.Base = at.real
			a.Fold, a.NFC = r.compares(at)
		}
		out = append(out, a)
	}
	return out
}

// base resolves the fixed prefix of a rule.
func (r *Resolver) base(rule permissions.Rule, look lstat) (place, string) {
	p := rule.Prefix()
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		if r.home == "" {
			return place{}, "there is no home folder"
		}
		p = r.home + "/" + rest
	}
	// The prefix is decoded already and its home is expanded.
	clean, why := r.clean(p, r.root, true)
	if why != "" {
		return place{}, why
	}
	return followWith(look, clean, true)
}

// compares says how the volume that a place is or will be on compares names.
func (r *Resolver) compares(at place) (fold, nfc bool) {
	dir, info, err := at.folder()
	if err != nil {
		return false, false
	}
	id, err := identify(dir, info)
	if err != nil {
		return false, false
	}
	return r.volumes.of(dir, identity{id.dev, id.ino, 0}, at.real)
}
