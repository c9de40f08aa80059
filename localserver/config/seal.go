package config

import (
	"cmp"

	"zeroclaw/services/secrets"
)

// seal replaces every plain secret of the file by its sealed form, unless
// [secrets] encrypt says otherwise.
func (f *File) seal(doc *document) ([]byte, error) {
	if !doc.root.member("secrets").flag("encrypt", true) {
		return doc.data, nil
	}
	var cuts []splice
	var walk func(n *node, s *section) error
	walk = func(n *node, s *section) error {
		if s.field != nil {
			value, ok := n.value.(string)
			if s.field.Kind != Secret || !ok || value == "" || secrets.IsSealed(value) {
				return nil
			}
			sealed, err := f.config.Secrets.Seal(value)
			if err == nil {
				cuts = append(cuts, splice{n.start, n.end, renderString(sealed)})
			}
			return err
		}
		for _, e := range n.elems {
			if s.list {
				if err := walk(e, s.star); err != nil {
					return err
				}
			}
		}
		for _, key := range n.keys {
			next := cmp.Or(s.kids[key], s.star)
			if next == nil || s.list {
				continue
			}
			if err := walk(n.kids[key], next); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(doc.root, schema); err != nil || len(cuts) == 0 {
		return doc.data, err
	}
	e := &editor{doc}
	if err := e.apply(cuts...); err != nil {
		return nil, err
	}
	return e.data, nil
}
