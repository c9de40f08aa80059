package resolve

import (
	"fmt"

	"zeroclaw/permissions"
)

// Again looks at an operand of a command once more (Resolver.Command), right
// before its program is started, which opens it by its name. It returns
// ErrChanged, wrapped with the operand, when the name leads elsewhere than it
// was judged to, or when something else stands there, or above it where nothing
// did.
func Again(p permissions.Path) error {
	given := permissions.Visible(p.Given)
	if p.Err != "" {
		return fmt.Errorf("look at %q again: %s", given, p.Err)
	}
	at, why := follow(p.Clean, p.Op != permissions.OpDelete)
	now := permissions.Path{Real: at.real, Op: p.Op}
	if why == "" {
		why = describe(&now, at)
		now.Second = second(p.Clean, p.Op, at, true)
	}
	type facts struct {
		real, second, dir        string
		kind                     permissions.Kind
		dev, ino, dirDev, dirIno uint64
		severalNames             bool
	}
	of := func(p permissions.Path) facts {
		return facts{p.Real, p.Second, p.Dir, p.Kind, p.Dev, p.Ino, p.DirDev, p.DirIno, p.Op == permissions.OpWrite && p.Links > 1}
	}
	if why != "" || of(now) != of(p) {
		return fmt.Errorf("look at %q again: %w", given, ErrChanged)
	}
	return nil
}
