package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"zeroclaw/permissions"
)

// Command adds to a scanned command what the file system knows: the folder it
// runs in (cwd as the caller wrote it, "" for the root), its program, its paths,
// and whether its text names own state. An operand whose ".." may lead elsewhere
// than its text says makes the command ambiguous.
func (r *Resolver) Command(c permissions.Command, cwd string) permissions.Command {
	if cwd == "" {
		cwd = r.root
	}
	c.Cwd = r.Path(cwd, permissions.OpList, false)
	if c.Cwd.Err == "" && c.Cwd.Kind != permissions.KindDir {
		c.Cwd.Err = "it is not an existing folder"
	}
	c.CwdInRoot = c.Cwd.Err == "" && within(r.root, c.Cwd.Real)
	c.Binary, c.Paths = "", nil
	c.NamesState = r.namesState(c)
	if c.Class != permissions.Simple || len(c.Argv) == 0 || c.Cwd.Err != "" {
		return c
	}
	c.Binary = systemProgram(c.Argv[0])
	for _, o := range c.Operands {
		p, why := r.operand(o, c.Cwd.Real)
		if why != "" && c.Class == permissions.Simple {
			c.Class, c.Why = permissions.Ambiguous, why
			c.Marks = nil
			if i := strings.Index(c.Text, o.Text); i >= 0 && o.Text != "" {
				c.Marks = []permissions.Mark{{Start: i, End: i + len(o.Text)}}
			}
		}
		c.Paths = append(c.Paths, p)
	}
	r.carryTree(c.Paths)
	return c
}

// carryTree marks what a moved folder is written to: everything in it arrives
// there too, and what is an ordinary name in one place may be a protected one
// in the other.
func (r *Resolver) carryTree(paths []permissions.Path) {
	var moved []string
	for _, p := range paths {
		if p.Op == permissions.OpDelete && p.Walk {
			moved = append(moved, p.Real)
		}
	}
	for i := range paths {
		to := &paths[i]
		if len(moved) == 0 || to.Op != permissions.OpWrite {
			continue
		}
		to.Walk = true
		for _, from := range moved {
			r.arrives(from, to)
		}
	}
}

// arrives notes on a path what protected name the entries of a folder get when
// the folder is moved there. No such name is longer than two, so only the
// entries right below it can get one that they did not have before.
func (r *Resolver) arrives(from string, to *permissions.Path) {
	f, err := os.Open(filepath.FromSlash(from))
	if err != nil {
		return
	}
	defer f.Close()
	entries, err := f.ReadDir(r.maxWalk)
	if err != nil {
		return // no folder, or nothing in it
	}
	for _, e := range entries {
		if to.Protected == "" {
			to.Protected = permissions.Protected(permissions.OpWrite, join(to.Clean, e.Name()), join(to.Real, e.Name()))
		}
	}
}

// operand finds the facts about one operand. The program gets its text as it
// stands, so neither "~/" nor an encoded name is read here.
func (r *Resolver) operand(o permissions.Operand, cwd string) (p permissions.Path, ambiguous string) {
	text, refused := o.Text, ""
	if o.Into != "" && r.isFolder(text, cwd) {
		switch {
		case strings.ContainsRune(o.Into, 0):
			// No entry has such a name: the operand must not be a folder.
			refused = "it is a folder, and everything in it would be read"
		case o.Into == "." || o.Into == ".." || strings.Contains(o.Into, "/"):
			ambiguous = fmt.Sprintf("what is written into %q cannot be told", permissions.Visible(text))
		default:
			text = join(text, o.Into)
		}
	}
	p = permissions.Path{Given: text, Op: o.Op, Walk: o.Walk, Parents: o.Parents}
	clean, why := r.clean(text, cwd, true)
	if why != "" {
		p.Err = why
		return p, ambiguous
	}
	if upFromUnknown(text, cwd) {
		ambiguous = fmt.Sprintf("%q goes up with .. behind a link or a name that is no folder", permissions.Visible(text))
	}
	p.Clean = clean
	r.find(&p, true)
	if p.Err == "" {
		p.Err = refused
	}
	return p, ambiguous
}

func (r *Resolver) isFolder(text, cwd string) bool {
	clean, why := r.clean(text, cwd, true)
	if why != "" {
		return false
	}
	at, why := follow(clean, true)
	return why == "" && at.info != nil && at.info.IsDir()
}

// upFromUnknown reports whether ".." stands behind a link, a missing name or
// anything else that is no folder: there the kernel goes elsewhere than the
// text does.
func upFromUnknown(text, cwd string) bool {
	at := cwd
	if strings.HasPrefix(text, "/") {
		at = "/"
	}
	plain := true
	for _, n := range names(text) {
		if n == ".." {
			if !plain {
				return true
			}
			at = parent(at)
			continue
		}
		at = join(at, n)
		if plain {
			info, err := os.Lstat(filepath.FromSlash(at))
			plain = err == nil && info.IsDir()
		}
	}
	return false
}
