package mcpclient

import (
	"context"
	"fmt"
	"os"

	"zeroclaw/services"
	"zeroclaw/tools/process"
)

// Config is what a Connector works with. The zero value works.
type Config struct {
	// Identity is told to servers; "" = zeroclaw.
	Identity Identity
	// Environ is the environment that the allow-list picks from; nil =
	// os.Environ.
	Environ func() []string
	// Path is the PATH that programs are looked up on and get; nil = as the
	// login shell that Environ names has it.
	Path func(ctx context.Context) string
	// Home is the working folder of a server that has none; "" = the user's
	// home folder.
	Home string
	// Ledger records the processes, so that a later run can end those that
	// this one left behind; nil = no record.
	Ledger *process.Ledger
}

// Connector connects to MCP servers.
type Connector struct{ config Config }

// New returns a Connector.
func New(c Config) *Connector {
	if c.Identity.Name == "" {
		c.Identity.Name = "zeroclaw"
	}
	if c.Identity.Version == "" {
		c.Identity.Version = "0"
	}
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	if c.Path == nil {
		c.Path = process.NewLogin(context.Background(), c.Environ).Path
	}
	return &Connector{config: c}
}

// Connect implements services.Connector.
func (c *Connector) Connect(ctx context.Context, s services.Spec, h services.Hooks) (services.Peer, error) {
	switch s.Transport {
	case services.TransportStdio, "":
		p, err := c.connectStdio(ctx, s, h)
		if err != nil {
			return nil, err
		}
		return p, nil
	case services.TransportHTTP, services.TransportSSE, services.TransportJSONRPC:
		p, err := c.connectRemote(ctx, s, h)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	return nil, fmt.Errorf("the transport %q is not known: use stdio, http, sse or jsonrpc", services.Shown(s.Transport, 40))
}
