package localserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/events"
	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/relay"
	"zeroclaw/localserver/session"
	"zeroclaw/localserver/store"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/audit"
	"zeroclaw/services"
	"zeroclaw/services/catalog"
	"zeroclaw/services/mcpclient"
	"zeroclaw/services/secrets"
	"zeroclaw/tools"
	"zeroclaw/tools/atomicfile"
	"zeroclaw/tools/files"
	"zeroclaw/tools/meta"
	"zeroclaw/tools/process"
	"zeroclaw/tools/results"
	"zeroclaw/tools/shell"
)

// statePath is a file of the state folder's state/.
func statePath(state, name string) string { return filepath.Join(state, "state", name) }

// New wires a companion together. The caller has acquired the state folder.
// What can be repaired by the user does not fail: it becomes a Problem.
func New(c Config) (_ *Server, err error) {
	if err := c.setDefaults(); err != nil {
		return nil, fmt.Errorf("start the companion: %w", err)
	}
	s := &Server{spare: newSpare(), config: c, log: c.Log, started: c.Now().UTC(), page: static{c.Page}, root: c.Root}
	s.ctx, s.quit = context.WithCancel(context.Background())
	for _, dir := range []string{"", "state", "run", "services", "logs", "objects"} {
		if err := os.MkdirAll(filepath.Join(c.State, dir), 0o700); err != nil {
			return nil, fmt.Errorf("create the state folder: %w", err)
		}
		// What a killed save left behind is of no use to anybody.
		if _, err := atomicfile.RemoveStale(filepath.Join(c.State, dir), c.Now().Add(-time.Minute)); err != nil {
			c.Log.Warn("remove what killed saves left", "err", err)
		}
	}
	s.wireEarly()
	defer func() {
		if err != nil {
			s.quit()
			s.background.Wait()
		}
	}()
	if s.secrets, err = secrets.Open(c.State, c.Rand); err != nil {
		return nil, err
	}
	if s.ledger, err = process.OpenLedger(filepath.Join(c.State, "run", "children.json")); err != nil {
		s.problem("ledger", err.Error())
	} else if n, err := s.ledger.Sweep(); err != nil {
		s.problem("left_over", err.Error())
	} else if n > 0 {
		s.log.Info("ended what a killed companion left behind", "processes", n)
	}
	s.keys = &guard.Keyring{}
	s.pairing = newPairing(s.keys, c.Rand, c.Now, s.problem)
	s.instance = Instance{PID: os.Getpid(), Started: s.started, Version: Version, TokenID: newID(), Token: newToken(c.Rand)}
	s.keys.Add(s.instance.Token, guard.TokenInfo{ID: s.instance.TokenID, Kind: guard.CLI})
	s.secrets.Add(s.instance.Token)

	if s.file, err = config.Open(config.Config{Dir: c.State, Secrets: s.secrets, Environ: c.Environ(), IgnoreBadEnv: !c.Terminal}); err != nil {
		return nil, err
	}
	s.uiOrigin = c.UIOrigin
	if s.uiOrigin == "" {
		s.uiOrigin = s.file.Current().Server.UIOrigin
	} else if err := config.CheckOrigin(s.uiOrigin); err != nil {
		return nil, fmt.Errorf("let the page of %q in: %w", s.uiOrigin, err)
	}
	s.uiOK = s.loadUI()
	s.wireState()
	s.wireTools()
	s.applyConfig(s.file.Current())
	s.file.Subscribe(func(now *config.Settings) {
		s.applyConfig(now)
		s.hub.Publish("config.changed", struct{}{})
		s.mcp.ToolsChanged()
	})
	return s, nil
}

// wireEarly begins what takes its time and needs nothing of the rest, which is
// wired meanwhile: the user's login shell, and the definitions that come with
// the companion.
func (s *Server) wireEarly() {
	s.login = process.NewLogin(s.ctx, s.config.Environ)
	s.background.Go(func() { s.login.Path(s.ctx) })
	s.bundled = make(chan struct{})
	s.background.Go(func() {
		settle, err := catalog.WriteBundled(s.servicesFolder())
		if err != nil {
			s.problem("services", err.Error())
		}
		close(s.bundled)
		select {
		case <-time.After(settleAfter):
		case <-s.ctx.Done(): // the next start sees to it
			return
		}
		if err := settle(); err != nil {
			s.log.Warn("bundled services could be lost in a power cut", "err", err)
		}
	})
}

// settleAfter is when the start is over, and the disk has time.
const settleAfter = 2 * time.Second

// servicesFolder is where services that were added to the companion lie.
func (s *Server) servicesFolder() string { return filepath.Join(s.config.State, "services") }

// wireState opens what is kept between starts.
func (s *Server) wireState() {
	var err error
	s.hub = events.New(events.Config{
		Hello: func(seq uint64) any {
			return map[string]any{"version": Version, "api": APIVersion, "root": s.Root(), "seq": seq}
		},
		OnListeners: func(n int) { s.broker.SetPresent(n) },
		Log:         s.log,
	})
	s.openTokens()
	s.audit = audit.Open(audit.Config{Dir: filepath.Join(s.config.State, "logs"), Redact: s.secrets.Redact, Failed: s.auditFailed})
	s.store = store.New(store.Config{Dir: s.config.State, Now: s.config.Now, Interrupted: s.callInterrupted})
	if s.policy, err = session.OpenPolicy(statePath(s.config.State, "rule-bases.json"), false); err != nil {
		s.problem("rule_bases", err.Error())
	}
	if s.memory, err = approval.OpenMemory(statePath(s.config.State, "decisions.json"), newID, s.config.Now); err != nil {
		s.problem("decisions", err.Error())
	}
	s.broker = approval.NewBroker(approval.Config{
		Timeout: func() time.Duration { return s.file.Current().Server.ApprovalTimeout },
		Now:     s.config.Now, NewID: newID,
		Asked:     s.asked,
		Ended:     s.questionEnded,
		Elsewhere: s.elsewhere,
		Remember:  func(q approval.Question, a approval.Answer) error { return s.sessions.Remember(q, a) },
		Log:       s.log,
	})
}

// wireTools makes the tools, the services and the sessions that reach them.
func (s *Server) wireTools() {
	c := s.config
	s.distribution = shell.System().Distribution
	s.files = files.New(files.Config{Undo: filepath.Join(c.State, "objects", "undo"), Now: c.Now})
	s.shell = shell.New(shell.Config{
		Environ: c.Environ, Path: s.login.Path, Ledger: s.ledger, Now: c.Now,
		Secret: func(v string) bool { return s.secrets.Redact(v) != v },
	})
	s.relay = relay.New(relay.Config{Providers: s.provider, OwnPort: func() int { return s.port }, Redact: s.secrets.Redact})
	s.wireServices()
	var err error
	if s.definitions, err = approval.OpenDefinitions(statePath(c.State, "definitions.json")); err != nil {
		s.problem("definitions", err.Error())
	}
	s.sessions = session.New(session.Config{
		Home: c.Home, State: c.State, Root: s.Root, Pids: s.pids,
		Local:  append(append([]tools.Tool{}, s.files.Tools()...), s.shell.Tool(), meta.ReadToolResult{Stored: s.store}),
		Remote: s.services, Items: s.services, Frames: results.Framer{Redact: s.secrets.Redact, Rand: c.Rand},
		Want: s.services.Want, Exposure: s.exposure,
		Policy: s.policy, Memory: s.memory, Definitions: s.definitions, Inputs: s.inputs,
		Asker:    s.broker,
		Finisher: results.New(results.Config{Objects: s.store, Redact: s.secrets.Redact, Rand: c.Rand, MaxChars: s.maxChars, Media: s.media, Uploads: s.workspaceOf}),
		SaveRule: s.saveRule, Publish: s.hub.Publish, Redact: s.secrets.Redact,
		Started: s.storeStart, Changed: s.storeChange, Ended: s.callEnded,
		Closed: func(id string) { s.shell.Close(id) },
		Busy:   func(id string) bool { return len(s.shell.Processes(id)) > 0 },
		Now:    c.Now, NewID: newID, Log: s.log,
	})
	s.wireMCP()
}

func (s *Server) wireServices() {
	c := s.config
	folder := &services.Folder{Path: s.servicesFolder()}
	scan := func() []services.Spec {
		<-s.bundled
		return folder.Scan()
	}
	installer := catalog.NewInstaller(catalog.Config{State: c.State, Home: c.Home, Path: s.login.Path, Environ: c.Environ, Ledger: s.ledger, Now: c.Now})
	var err error
	s.services, err = services.New(services.Config{
		Connector: mcpclient.New(mcpclient.Config{
			Identity: mcpclient.Identity{Name: "zeroclaw", Version: Version}, Environ: c.Environ, Path: s.login.Path, Home: c.Home, Ledger: s.ledger,
		}),
		Installer: installer,
		Vars: func() services.Vars {
			return services.Vars{Root: s.Root(), Self: c.Self, Node: installer.Node, Python: installer.Python}
		},
		Scan: scan, Store: services.FileStore{Path: statePath(c.State, "service-options.json")}, Cache: services.FileCache{Path: statePath(c.State, "catalogue.json")},
		Notify: s.serviceEvent, Redact: s.secrets.Redact, Now: c.Now,
		Roots: func() []services.Root {
			return []services.Root{{URI: fileURI(s.Root()), Name: filepath.Base(s.Root())}}
		},
		Ask:      s.askPerson,
		Notified: func(server, method string, params json.RawMessage) { s.mcp.Notified(server, method, params) },
	})
	if err != nil {
		s.problem("services", err.Error())
	}
}

// serviceEvent passes on what happens to services.
func (s *Server) serviceEvent(e services.Event) {
	switch e.Kind {
	case services.EventLog:
		s.hub.Publish("service.log", map[string]any{"id": e.Name, "lines": e.Lines})
		return
	case services.EventState:
		s.hub.Publish("service.state", map[string]any{"service": e.Status})
		s.sessions.StateChanged()
		return // which tools there are is told by itself
	case services.EventGone:
		s.hub.Publish("service.gone", map[string]string{"id": e.Name})
	case services.EventTools:
		s.spare.stir()
	}
	if err := s.sessions.ToolsChanged(); err != nil {
		s.log.Error("pin tool definitions", "err", err)
		s.problem("definitions", err.Error())
	}
	s.hub.Publish("tools.changed", struct{}{})
	s.mcp.ToolsChanged()
}

// workspaceOf is the folder that files which a call brings are put below.
func (s *Server) workspaceOf(c tools.Call) string {
	one, err := s.sessions.Get(c.Session)
	if err != nil {
		return ""
	}
	return one.Workspace
}

// pids are the companion and its children, whose /proc entries are own state.
func (s *Server) pids() []int {
	out := append(s.services.Pids(), os.Getpid())
	for _, b := range s.shell.Processes("") {
		out = append(out, b.Pids...)
	}
	return out
}

// fileURI is a path as a file: address.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
