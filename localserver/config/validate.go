package config

import (
	"fmt"
	"strings"
)

// checker holds the tree of one load against the schema: what does not fit is
// marked bad and becomes a problem.
type checker struct {
	doc      *document
	file     string
	problems []Problem
}

// report adds a problem about a node.
func (c *checker) report(n *node, severity Severity, code, path, format string, args ...any) {
	p := Problem{Code: code, Severity: severity, Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.env != "" {
		p.Variable = n.env
	} else if n != nil {
		p.File = c.file
		p.Line, p.Column = c.doc.place(n)
	}
	c.problems = append(c.problems, p)
}

// bad reports an error and marks the node.
func (c *checker) bad(n *node, format string, args ...any) {
	n.bad = true
	c.report(n, SevereError, CodeInvalidValue, showPath(n), format, args...)
}

// check walks a node with its section.
func (c *checker) check(n *node, s *section) {
	switch {
	case s.field != nil:
		if _, wrong := s.field.convert(n.plain()); wrong != "" {
			c.bad(n, "%s", wrong)
		}
	case s.list:
		c.checkList(n, s)
	case n.kind != tableNode:
		c.bad(n, "must be a table, not %s", describe(n.plain()))
	default:
		for _, key := range n.keys {
			kid := n.kids[key]
			switch {
			case s.kids[key] != nil:
				c.check(kid, s.kids[key])
			case s.star != nil:
				if wrong := s.checkEntry(key); wrong != "" {
					c.bad(kid, "is no usable name: it %s", wrong)
				}
				c.check(kid, s.star)
			default:
				c.unknown(kid, s)
			}
		}
	}
}

// checkEntry judges the name of a new or existing entry of the section.
func (s *section) checkEntry(name string) string {
	switch s.path {
	case "providers", "mcp_bundles", "agents", "risk_profiles", "runtime_profiles":
		return checkName(name)
	case "mcp.servers":
		return checkServer(name)
	}
	if strings.TrimSpace(name) == "" {
		return "must not be empty"
	}
	return ""
}

// checkList walks entries that are addressed by name.
func (c *checker) checkList(n *node, s *section) {
	if n.kind != tablesNode && n.kind != arrayNode {
		c.bad(n, "must be a list of tables ([[%s]]), not %s", s.path, describe(n.plain()))
		return
	}
	seen := map[string]*node{}
	for _, e := range n.elems {
		if e.kind != tableNode {
			c.bad(e, "must be a table, not %s", describe(e.plain()))
			continue
		}
		c.check(e, s.star)
		own := e.member("name")
		name := ""
		if own != nil {
			name, _ = own.value.(string)
		}
		switch key := strings.ToLower(strings.TrimSpace(name)); {
		case own == nil:
			c.bad(e, "needs a name")
		case own.bad:
			e.bad = true
		case seen[key] != nil:
			line, _ := c.doc.place(seen[key])
			c.bad(e, "has the name of another one (line %d); names are compared without regard to case", line)
		default:
			seen[key] = e
		}
	}
}

// unknown warns about a key that is kept without effect.
func (c *checker) unknown(n *node, s *section) {
	message := "is no setting of this version; it is kept, but has no effect"
	if near := nearest(n.name, s.names()); near != "" {
		message = fmt.Sprintf("is no setting and has no effect; did you mean %s?", near)
	}
	c.report(n, SevereWarning, CodeUnknownKey, showPath(n), "%s", message)
}

// broken reports whether anything at or below n is bad.
func broken(n *node) bool {
	if n == nil {
		return false
	}
	if n.bad {
		return true
	}
	for _, kid := range n.kids {
		if broken(kid) {
			return true
		}
	}
	for _, e := range n.elems {
		if broken(e) {
			return true
		}
	}
	return false
}
