package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
)

// probeTime is how long server/discover may stay unanswered before initialize
// is sent as well. A server that ignores unknown methods costs this much, the
// first time only: the era is remembered.
const probeTime = 1500 * time.Millisecond

type capabilities struct {
	Tools *struct {
		ListChanged bool `json:"listChanged"`
	} `json:"tools"`
}

// greeting is what both kinds of handshake tell.
type greeting struct {
	ProtocolVersion   string          `json:"protocolVersion"`
	SupportedVersions []string        `json:"supportedVersions"`
	Capabilities      json.RawMessage `json:"capabilities"`
	ServerInfo        struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
	Instructions string `json:"instructions"`
	Meta         map[string]json.RawMessage
}

// handshake agrees on a protocol revision. hint is the revision that was spoken
// last, "" = not known.
//
// Revisions before 2026-07-28 begin with initialize; later ones have no
// handshake, but server/discover tells what there is. What is remembered is
// tried first and the other way after an error. With nothing remembered both
// questions are asked: initialize follows when discover is refused or stays
// unanswered for probeTime. Once initialize has been sent its answer counts,
// and a late one of discover only if initialize is refused.
func (s *session) handshake(ctx context.Context, hint string) (greeting, error) {
	g, err := s.greet(ctx, hint)
	if err == nil {
		s.version = g.ProtocolVersion
		// A capability object of another shape offers nothing.
		_ = json.Unmarshal(g.Capabilities, &s.capabilities)
		s.declared = declares(g.Capabilities)
		if c, ok := s.wire.(transport.HTTPConnection); ok {
			c.SetProtocolVersion(s.version)
		}
		if !mcp.IsModernProtocol(s.version) {
			s.notify("notifications/initialized", nil)
		}
		if s.declared["logging"] {
			s.hear()
		}
	}
	return g, err
}

func (s *session) greet(ctx context.Context, hint string) (greeting, error) {
	switch {
	case hint == "":
		return s.probe(ctx)
	case mcp.IsModernProtocol(hint):
		g, err := s.discover(ctx, hint)
		if refused(err) {
			return s.initialize(ctx)
		}
		return g, err
	}
	g, err := s.initialize(ctx)
	if refused(err) {
		if d, derr := s.discover(ctx, mcp.LATEST_PROTOCOL_VERSION); derr == nil {
			return d, nil
		}
	}
	return g, err
}

// refused reports whether the server does not know this way of beginning. Over
// HTTP a status says so, too, unless it is about who asks.
func refused(err error) bool {
	var r *rpcError
	var v *versionError
	var w *wireError
	if errors.As(err, &w) {
		switch w.status {
		case 0, http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests:
			return false
		}
		return true
	}
	return errors.As(err, &r) || errors.As(err, &v)
}

func (s *session) probe(ctx context.Context) (greeting, error) {
	type outcome struct {
		g   greeting
		err error
	}
	dctx, stop := context.WithCancel(ctx)
	defer stop()
	discovered := make(chan outcome, 1)
	s.duties.Go(func() {
		g, err := s.discover(dctx, mcp.LATEST_PROTOCOL_VERSION)
		discovered <- outcome{g, err}
	})
	timer := time.NewTimer(probeTime)
	defer timer.Stop()
	select {
	case d := <-discovered:
		if !refused(d.err) {
			return d.g, d.err
		}
		return s.initialize(ctx)
	case <-timer.C:
	}
	g, err := s.initialize(ctx)
	if refused(err) {
		select {
		case d := <-discovered:
			if d.err == nil {
				return d.g, nil
			}
		case <-ctx.Done():
		}
	}
	return g, err
}

// discover asks a server of the modern era. A server that names the revisions
// it supports is asked once more with one of them, also when it is the same:
// some refuse every first request.
func (s *session) discover(ctx context.Context, version string) (greeting, error) {
	var refusal error
	for range 2 {
		raw, err := s.send(ctx, s.ids.Add(1), version, methodDiscover, nil, nil)
		if err != nil {
			var r *rpcError
			if !errors.As(err, &r) || r.code != mcp.UNSUPPORTED_PROTOCOL_VERSION {
				return greeting{}, err
			}
			if version = newestModern(supported(r.data)); version == "" {
				return greeting{}, err
			}
			refusal = err
			continue
		}
		g, err := readGreeting(raw)
		if err != nil {
			return g, err
		}
		// A server that answers anything to anything names none.
		if !slices.Contains(g.SupportedVersions, version) {
			if version = newestModern(g.SupportedVersions); version == "" {
				return g, &versionError{g.SupportedVersions}
			}
		}
		if info, ok := g.Meta[mcp.MetaKeyServerInfo]; ok {
			_ = json.Unmarshal(info, &g.ServerInfo)
		}
		g.ProtocolVersion = version
		return g, nil
	}
	return greeting{}, refusal
}

func (s *session) initialize(ctx context.Context) (greeting, error) {
	raw, err := s.send(ctx, s.ids.Add(1), "", methodInitialize, map[string]any{
		"protocolVersion": mcp.LATEST_LEGACY_PROTOCOL_VERSION,
		"clientInfo":      s.identity(),
		"capabilities":    s.offered(),
	}, nil)
	if err != nil {
		return greeting{}, err
	}
	g, err := readGreeting(raw)
	if err != nil {
		return g, err
	}
	if !mcp.IsValidProtocolVersion(g.ProtocolVersion) || mcp.IsModernProtocol(g.ProtocolVersion) {
		return g, &versionError{[]string{g.ProtocolVersion}}
	}
	return g, nil
}

func readGreeting(raw json.RawMessage) (greeting, error) {
	var g greeting
	if err := json.Unmarshal(raw, &g); err != nil {
		return g, fmt.Errorf("reading the server's greeting: %w", err)
	}
	var meta struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(raw, &meta) == nil {
		g.Meta = meta.Meta
	}
	return g, nil
}

// meta is what each request of the modern era carries; nil for the others.
func (s *session) meta(ctx context.Context, version string) map[string]any {
	if !mcp.IsModernProtocol(version) {
		return nil
	}
	m := map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientInfo:         s.identity(),
		mcp.MetaKeyClientCapabilities: s.offered(),
	}
	if t := services.ThroughFrom(ctx); t != nil && t.Capabilities != nil {
		m[mcp.MetaKeyClientCapabilities] = t.Capabilities
	}
	if s.logs.Load() {
		m[mcp.MetaKeyLogLevel] = logLevel
	}
	return m
}

// logLevel is from which level on a server that logs tells us.
const logLevel = "info"

// hear asks a server for its log: by a request, or in the modern era with each
// request.
func (s *session) hear() {
	if mcp.IsModernProtocol(s.version) {
		s.logs.Store(true)
		return
	}
	s.duties.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		_, err := s.request(ctx, "logging/setLevel", map[string]any{"level": logLevel}, nil)
		if err != nil && s.ctx.Err() == nil {
			s.hooks.Log("companion", "asking for its log failed: "+err.Error())
		}
	})
}

func (s *session) identity() map[string]any {
	return map[string]any{"name": s.client.Name, "version": s.client.Version}
}

// offered are the capabilities that we declare: only what is answered.
func (s *session) offered() map[string]any {
	c := map[string]any{}
	if s.hooks.Roots != nil {
		c["roots"] = map[string]any{"listChanged": true}
	}
	if s.hooks.Ask != nil {
		c["sampling"] = map[string]any{}
		c["elicitation"] = map[string]any{"form": map[string]any{}, "url": map[string]any{}}
	}
	return c
}

func supported(data any) []string {
	m, _ := data.(map[string]any)
	list, _ := m["supported"].([]any)
	var out []string
	for _, v := range list {
		if t, ok := v.(string); ok {
			out = append(out, t)
		}
	}
	return out
}

// newestModern is the newest revision without a handshake that both sides know,
// or "".
func newestModern(theirs []string) string {
	if v := mcp.NegotiateMutuallySupportedVersion(theirs); mcp.IsModernProtocol(v) {
		return v
	}
	return ""
}

// versionError says that there is no revision that both sides know.
type versionError struct{ theirs []string }

func (e *versionError) Error() string {
	return fmt.Sprintf("the server speaks the MCP revision %s, this companion knows %s",
		services.Shown(strings.Join(e.theirs, ", "), 200), strings.Join(mcp.ValidProtocolVersions, ", "))
}
