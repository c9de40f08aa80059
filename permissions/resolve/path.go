package resolve

import (
	"fmt"
	"io/fs"
	"strings"

	"zeroclaw/permissions"
)

// Path finds the facts about one path as a caller wrote it. walk says that
// everything below is touched as well; for deleting or moving a folder that is
// so in any case. It never fails: a path that cannot be judged has an Err.
func (r *Resolver) Path(given string, op permissions.Op, walk bool) permissions.Path {
	p := permissions.Path{Given: given, Op: op, Walk: walk}
	clean, why := r.clean(given, r.root, false)
	if why != "" {
		p.Err = why
		return p
	}
	p.Clean = clean
	r.find(&p, false)
	return p
}

// find fills in everything that follows from p.Clean, p.Op and p.Walk. With
// replaces, writing may replace a link as well as follow it.
func (r *Resolver) find(p *permissions.Path, replaces bool) {
	// As written it may be own state even where it leads nowhere.
	p.OwnState = r.own.holds(p.Clean) || r.ownProcess(p.Clean)
	at, why := follow(p.Clean, p.Op != permissions.OpDelete)
	for _, passed := range at.proc {
		p.OwnState = p.OwnState || r.ownProcess(passed)
	}
	if why != "" {
		p.Err = why
		return
	}
	p.Real = at.real
	p.Second = second(p.Clean, p.Op, at, replaces)
	if why := describe(p, at); why != "" {
		p.Err = why
	}
	p.Fold, p.NFC = r.volumes.of(p.Dir, identity{p.DirDev, p.DirIno, 0}, p.Real)
	r.judge(p)
}

// second is the other place that an operation touches where the last name is a
// link: what it leads to, for one that is deleted, and the link itself, for one
// that may be replaced. "" if there is none.
func second(clean string, op permissions.Op, at place, replaces bool) string {
	switch {
	case at.link:
		if target, why := follow(clean, true); why == "" {
			return target.real
		}
	case replaces && op == permissions.OpWrite:
		if entry, why := follow(clean, false); why == "" && entry.link {
			return entry.real
		}
	}
	return ""
}

// describe fills in what stands at p.Real and the folder above it.
func describe(p *permissions.Path, at place) (why string) {
	var err error
	info := at.dirInfo
	if p.Dir = at.dir; at.info != nil {
		p.Dir = parent(p.Real)
		if info, err = lstatSlash(p.Dir); err != nil {
			return explain(p.Dir, err)
		}
	}
	id, err := identify(p.Dir, info)
	if err != nil {
		return explain(p.Dir, err)
	}
	p.DirDev, p.DirIno = id.dev, id.ino

	if at.info == nil {
		return ""
	}
	id, err = identify(p.Real, at.info)
	if err != nil {
		return explain(p.Real, err)
	}
	p.Dev, p.Ino = id.dev, id.ino
	switch mode := at.info.Mode(); {
	case at.link:
		p.Kind = permissions.KindLink
	case mode.IsDir():
		p.Kind = permissions.KindDir
	case mode.IsRegular():
		p.Kind = permissions.KindFile
		p.Links = id.links
		p.Size, p.Modified = at.info.Size(), at.info.ModTime().UnixNano()
	default:
		return fmt.Sprintf("%q is %s", permissions.Visible(p.Real), special(mode))
	}
	return ""
}

func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "neither a file nor a folder"
}

// judge fills in what the facts say about the companion: own state, workspace,
// protected names, and what a walk meets.
func (r *Resolver) judge(p *permissions.Path) {
	for _, place := range [...]string{p.Real, p.Second} {
		if place != "" {
			p.OwnState = p.OwnState || r.isOwn(place)
		}
	}
	if p.Kind == permissions.KindFile && p.Links > 1 {
		p.OwnState = p.OwnState || r.own.holdsFile(identity{p.Dev, p.Ino, 0})
	}
	if !p.OwnState {
		p.Area = r.area(p.Real)
	}
	p.Protected = permissions.Protected(p.Op, p.Clean, p.Real)
	if p.Protected == "" && p.Second != "" {
		p.Protected = permissions.Protected(p.Op, p.Second, p.Second)
	}
	p.Spelled = r.spell(p.Real)

	switch {
	case p.Kind != permissions.KindDir:
		p.Walk = false // there is nothing below
	case p.Op == permissions.OpDelete && !p.Walk:
		p.Walk = holdsAnything(p.Real)
	}
	if !p.Walk {
		return
	}
	for _, place := range [...]string{p.Clean, p.Real} {
		p.OwnState = p.OwnState || r.own.isBelow(place) || place == "/" || place == "/proc"
	}
	if !p.OwnState {
		r.walk(p)
	}
}

// isOwn reports whether a resolved place is own state.
func (r *Resolver) isOwn(real string) bool {
	return r.own.holds(real) || r.own.holdsIdentity(real) || r.ownProcess(real)
}

func (r *Resolver) area(real string) permissions.Area {
	if r.space == "" || !within(r.space, real) {
		return permissions.AreaNone
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(real, r.space), "/"), "/")
	switch first {
	case "uploads":
		return permissions.AreaUploads
	case "work":
		return permissions.AreaWork
	case "outputs":
		return permissions.AreaOutputs
	}
	return permissions.AreaNone
}

// spell writes a resolved path the way a rule would.
func (r *Resolver) spell(real string) string {
	out := real
	switch {
	case real == r.root:
		out = "."
	case within(r.root, real):
		out = "./" + strings.TrimPrefix(strings.TrimPrefix(real, r.root), "/")
	case r.homeReal != "" && r.homeReal != "/" && within(r.homeReal, real):
		out = "~/" + strings.TrimPrefix(strings.TrimPrefix(real, r.homeReal), "/")
	}
	return permissions.EncodePath(out)
}
