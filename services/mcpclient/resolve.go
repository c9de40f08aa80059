package mcpclient

import (
	"cmp"
	"context"

	"zeroclaw/services"
	"zeroclaw/tools/process"
)

// Resolve implements services.Resolver.
func (c *Connector) Resolve(ctx context.Context, s services.Spec) (string, error) {
	return process.LookPath(s.Command, c.config.Path(ctx), cmp.Or(s.Dir, s.Cwd, c.home()))
}

// Prepare implements services.Preparer: the login shell is asked for the PATH.
func (c *Connector) Prepare(ctx context.Context) { c.config.Path(ctx) }
