package mcpclient

import (
	"cmp"
	"context"

	"zeroclaw/services"
	"zeroclaw/tools/process"
)

// Resolve implements services.Resolver.
func (c *Connector) Resolve(ctx context.Context, s services.Spec) (string, error) {
	base := cmp.Or(s.Dir, s.Cwd)
	if base == "" {
		base = c.home()
	}
	return process.LookPath(s.Command, c.config.Path(ctx), base)
}

// Prepare implements services.Preparer: the login shell is asked for the PATH.
func (c *Connector) Prepare(ctx context.Context) { c.config.Path(ctx) }
