package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/services"
	"zeroclaw/tools"
	"zeroclaw/tools/meta"
)

// Items is what sessions need of the servers besides their tools.
type Items interface {
	// Request sends one of the protocol's other requests; an error that wraps
	// services.ErrUnsupported says that the server does not offer that part.
	Request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error)
	// Instructions is what a server says about itself to a model: untrusted.
	Instructions(server string) string
}

// items is what a session's mcp_resources and mcp_prompts reach.
type items struct{ session *Session }

// Servers implements meta.Remote.
func (i items) Servers() []string { return i.session.servers() }

// Reaches implements meta.Remote.
func (i items) Reaches(server, item string) bool { return i.session.grant.ReachesItem(server, item) }

// Request implements meta.Remote.
func (i items) Request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error) {
	if pass, ok := tools.PassFrom(ctx); ok {
		ctx = services.WithOwner(ctx, ownerOf(pass.Session, pass.CallID))
	}
	raw, err := i.session.host.config.Items.Request(ctx, server, method, params)
	if errors.Is(err, services.ErrUnsupported) {
		return nil, fmt.Errorf("%w: %w", meta.ErrUnsupported, err)
	}
	return raw, err
}

// pinWarning is the code of a warning about a pinned resource.
const pinWarning = "pinned_resource"

// Bounds of the pinned resources of one session.
const (
	pinTime   = 20 * time.Second
	maxPins   = 64
	maxPin    = 48 << 10 // bytes of one
	maxPinned = 96 << 10 // of all together
)

// pins are the pinned resources of a session, read once behind its start.
type pins struct {
	done chan struct{} // closed when the fields below are there

	parts    []Part
	warnings []permissions.Warning
}

func noPins() *pins {
	p := &pins{done: make(chan struct{})}
	close(p.done)
	return p
}

func (p *pins) wait(ctx context.Context) {
	select {
	case <-p.done:
	case <-ctx.Done():
	}
}

// now returns what has been read, nothing while it is being read.
func (p *pins) now() ([]Part, []permissions.Warning) {
	select {
	case <-p.done:
		return p.parts, p.warnings
	default:
		return nil, nil
	}
}

type pin struct{ server, uri string }

// pinList is what the configuration pins for the granted servers, in order.
func (n *Session) pinList() []pin {
	var list []pin
	for _, server := range slices.Sorted(maps.Keys(n.grant.Servers)) {
		for _, uri := range n.exposure.Pinned[server] {
			list = append(list, pin{server, uri})
		}
	}
	return list
}

// readPins begins to read the pinned resources, all at once. Those that cannot
// be read are warnings.
func (n *Session) readPins() *pins {
	list := n.pinList()
	if len(list) == 0 || n.host.config.Items == nil {
		return noPins()
	}
	p := &pins{done: make(chan struct{})}
	n.work.Go(func() {
		defer close(p.done)
		ctx, cancel := context.WithTimeout(n.ctx, pinTime)
		defer cancel()
		p.read(ctx, n, list)
	})
	return p
}

// readPin reads one resource, framed as untrusted.
func (n *Session) readPin(ctx context.Context, at pin) (string, error) {
	text, _, err := meta.Resources{Remote: items{n}, Frames: n.host.config.Frames}.Read(ctx, at.server, at.uri)
	return text, err
}

func (p *pins) read(ctx context.Context, n *Session, list []pin) {
	warn := func(at pin, format string, args ...any) {
		p.warnings = append(p.warnings, permissions.Warning{Code: pinWarning, Message: fmt.Sprintf("The pinned resource %s of %s was left out: ", at.uri, at.server) + fmt.Sprintf(format, args...) + "."})
	}
	texts, errs := make([]string, len(list)), make([]error, len(list))
	var reading sync.WaitGroup
	for i, at := range list {
		switch {
		case i >= maxPins:
			errs[i] = fmt.Errorf("at most %d are read", maxPins)
		case !n.grant.ReachesItem(at.server, at.uri):
			errs[i] = errors.New("the agent's profile excludes it")
		default:
			reading.Go(func() {
				defer func() {
					if recover() != nil {
						errs[i] = errors.New("reading it failed inside the companion")
					}
				}()
				texts[i], errs[i] = n.readPin(ctx, at)
			})
		}
	}
	reading.Wait()
	left := maxPinned
	for i, at := range list {
		switch {
		case errs[i] != nil:
			warn(at, "%v", errs[i])
		case len(texts[i]) > maxPin:
			warn(at, "it has %d bytes, at most %d are taken", len(texts[i]), maxPin)
		case len(texts[i]) > left:
			warn(at, "all of them together may have %d bytes", maxPinned)
		default:
			left -= len(texts[i])
			p.parts = append(p.parts, Part{Kind: "pinned_resource", Text: texts[i]})
		}
	}
}
