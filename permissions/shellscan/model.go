package shellscan

import (
	"path"
	"strings"
	"sync"

	"zeroclaw/permissions"
)

// notFolder is put in Operand.Into where an operand must not be a folder: no
// entry can have this name, so that a folder gives an impossible path, and an
// impossible path asks. diff reads, and follows, every entry of a folder.
const notFolder = "\x00"

// model looks the command up in the table. It returns the paths that the
// command touches, or the reason for which the table has no answer.
func model(argv []word) ([]permissions.Operand, *Finding) {
	first := argv[0]
	program := first.text
	at := func(k Kind, w word) *Finding {
		return &Finding{Kind: k, Start: w.start, End: w.end, Of: program}
	}
	r, ok := table[program]
	switch {
	case strings.ContainsAny(program, `/\`):
		return nil, at(KindPath, first)
	case !ok:
		return nil, at(KindProgram, first)
	case r.shape == anything:
		return nil, nil
	case r.shape == finding:
		return findPaths(argv)
	}
	l, bad := parse(program, argv[1:], rowFlags()[program])
	if bad != nil {
		return nil, bad
	}
	paths, bad := l.paths(r, first)
	if bad != nil {
		return nil, bad
	}
	c := collector{walk: r.walk || l.walk, parents: l.parents}
	for _, w := range l.reads {
		c.add(w.text, permissions.OpRead)
	}
	switch r.shape {
	case files, search:
		c.each(r, l, paths)
	case pair:
		for _, w := range paths {
			c.into(w.text, permissions.OpRead, notFolder)
		}
	case copying, moving:
		if w, ok := nameless(paths[:len(paths)-1]); ok {
			return nil, at(KindNameless, w)
		}
		c.transfer(r.shape == moving, l.replace, paths)
	}
	return c.out, nil
}

// paths are the operands that are paths, or the reason for which they cannot be
// told for sure.
func (l line) paths(r row, first word) ([]word, *Finding) {
	at := func(k Kind, w word) ([]word, *Finding) {
		return nil, &Finding{Kind: k, Start: w.start, End: w.end, Of: first.text}
	}
	if len(l.late) > 0 && (r.most > 0 || r.shape == copying || r.shape == moving) {
		return at(KindOrder, l.late[0])
	}
	for _, w := range l.late {
		if w.text == "" || w.text == "-" {
			return at(KindOrder, w)
		}
	}
	paths := l.operands
	if r.shape == search && !l.pattern {
		if len(paths) == 0 {
			return at(KindFew, first)
		}
		paths = paths[1:]
	}
	for _, w := range paths {
		switch {
		case w.text == "-":
			return at(KindDash, w)
		case w.text == "" && r.shape != names:
			return at(KindBlank, w)
		case strings.HasPrefix(w.text, "+") && r.shape != names:
			return at(KindPlus, w)
		}
	}
	switch {
	case len(paths) < r.least && !l.impliesHere(r, paths):
		return at(KindFew, first)
	case r.most > 0 && len(paths) > r.most:
		return at(KindMany, paths[r.most])
	}
	return paths, nil
}

// impliesHere reports whether a command without a path means its own folder.
func (l line) impliesHere(r row, paths []word) bool {
	return len(paths) == 0 && (r.implied || r.shape == search && l.walk)
}

// nameless finds a source that a copy would give no name of its own.
func nameless(sources []word) (word, bool) {
	for _, w := range sources {
		if name := path.Base(w.text); name == "." || name == ".." || name == "/" {
			return w, true
		}
	}
	return word{}, false
}

// rowFlags holds the flags of every row, taken apart once.
var rowFlags = sync.OnceValue(func() map[string]map[string]flag {
	out := make(map[string]map[string]flag, len(table))
	for name, r := range table {
		out[name] = flagsOf(r.flags)
	}
	return out
})

// collector gathers operands, each once.
type collector struct {
	walk    bool
	parents bool
	late    bool
	out     []permissions.Operand
	have    map[permissions.Operand]bool
}

// each adds every path with the one thing that the command does to it.
func (c *collector) each(r row, l line, paths []word) {
	op := permissions.Op(r.op)
	if r.shape == search {
		op = permissions.OpRead
	}
	if l.impliesHere(r, paths) {
		c.add(".", op)
	}
	for _, w := range paths {
		c.add(w.text, op)
	}
	c.late = true
	for _, w := range l.late {
		c.add(w.text, op)
	}
}

// transfer adds what a copy or a move reads, writes and removes; the last path
// is where it goes.
func (c *collector) transfer(moves, replaces bool, paths []word) {
	sources, target := paths[:len(paths)-1], paths[len(paths)-1]
	c.walk = moves
	for _, w := range sources {
		c.add(w.text, permissions.OpRead)
		if moves {
			c.add(w.text, permissions.OpDelete)
		}
	}
	c.walk = false
	for _, w := range sources {
		name := path.Base(w.text)
		c.into(target.text, permissions.OpWrite, name)
		if moves || replaces {
			c.into(target.text, permissions.OpDelete, name)
		}
	}
}

func (c *collector) add(text string, op permissions.Op) { c.into(text, op, "") }

// into adds an operand. A leading "~" is an ordinary character here, since no
// shell expands it, but the path rules would.
func (c *collector) into(text string, op permissions.Op, name string) {
	if strings.HasPrefix(text, "~") {
		text = "./" + text
	}
	o := permissions.Operand{Text: text, Op: op, Walk: c.walk, Parents: c.parents, Late: c.late, Into: name}
	if c.have[o] {
		return
	}
	if c.have == nil {
		c.have = map[permissions.Operand]bool{}
	}
	c.have[o] = true
	c.out = append(c.out, o)
}
