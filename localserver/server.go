// Package localserver is the companion's server on 127.0.0.1: it wires the
// packages below it together, serves the API that docs/api.md describes and
// the page that talks to it.
package localserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/events"
	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/mcpserver"
	"zeroclaw/localserver/relay"
	"zeroclaw/localserver/session"
	"zeroclaw/localserver/store"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/audit"
	"zeroclaw/permissions/resolve"
	"zeroclaw/services"
	"zeroclaw/services/secrets"
	"zeroclaw/tools/files"
	"zeroclaw/tools/process"
	"zeroclaw/tools/shell"
	"zeroclaw/web"
)

// DefaultIdle is after how long without use a companion ends that was started
// without a terminal, where nothing says otherwise: nobody sees it run.
const DefaultIdle = 10 * time.Minute

// AnyPort as Config.Port takes any free port.
const AnyPort = -1

// Config configures a Server. State, Home and Root are required and absolute.
type Config struct {
	State        string        // the folder that holds all local state
	Home         string        // the user's home folder, which ~/ stands for
	Root         string        // folder that relative paths of new sessions hang from
	Port         int           // 0: server.port of the configuration; AnyPort: any free one
	UIOrigin     string        // one other origin that the page may be served from; "": that of the configuration
	ExitWhenIdle time.Duration // 0: that of the configuration, else never, but without a terminal after DefaultIdle
	Self         string        // path of this program, which bundled services run; "" is os.Executable
	Terminal     bool          // it was started from a terminal
	Page         fs.FS         // the page; nil is the embedded one
	Log          *slog.Logger  // nil is slog.Default
	Getenv       func(string) string
	Environ      func() []string
	Rand         io.Reader
	Now          func() time.Time
}

func (c *Config) setDefaults() error {
	if c.Port < AnyPort || c.Port > 65535 {
		return fmt.Errorf("listen on port %d: choose one from 1 to 65535", c.Port)
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Self == "" {
		var err error
		if c.Self, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program's own path: %w", err)
		}
	}
	if c.Page == nil {
		c.Page = web.FS()
	}
	if dir := c.Getenv("ZEROCLAW_WEB_DIR"); dir != "" {
		var err error
		if c.Page, err = web.Dir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Server is the companion.
type Server struct {
	config  Config
	log     *slog.Logger
	started time.Time
	port    int
	page    static

	keys        *guard.Keyring
	tokens      *tokenStore
	pairing     *pairing
	instance    Instance
	hub         *events.Hub
	broker      *approval.Broker
	file        *config.File
	secrets     *secrets.Store
	policy      *session.Policy
	resolvers   resolve.Keeper
	memory      *approval.Memory
	definitions *approval.Definitions
	audit       *audit.Log
	sessions    *session.Sessions
	services    *services.Supervisor
	ledger      *process.Ledger
	login       *process.Login
	bundled     chan struct{} // closed once the bundled services are written
	files       *files.Files
	shell       *shell.Shell
	store       *store.Store
	relay       *relay.Relay
	mcp         *mcpserver.Server

	spare spare // what only the start, or one big result, needed

	ctx        context.Context // ends when the server is to end
	quit       context.CancelFunc
	background sync.WaitGroup

	mu           sync.Mutex
	root         string
	problems     []Problem
	uiOrigin     string
	uiOK         bool
	distribution string
	settings     *config.Settings
}

// Root is the folder of sessions that are opened from now on.
func (s *Server) Root() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root
}

// Address is where the page is served, "http://127.0.0.1:PORT/".
func (s *Server) Address() string { return "http://127.0.0.1:" + strconv.Itoa(s.port) + "/" }

// Serve listens and serves until ctx ends, the page asks to quit or nothing
// has happened for Config.ExitWhenIdle; then it takes nothing new and ends
// every call, service and process, within five seconds. ready is called once the page can be opened.
func (s *Server) Serve(ctx context.Context, ready func()) error {
	stop := context.AfterFunc(ctx, s.quit)
	defer stop()
	ln, err := s.listen()
	if err != nil {
		return err
	}
	s.port = ln.Addr().(*net.TCPAddr).Port
	doors := newDoors()
	handler := guard.New(guard.Config{
		Port: s.port, UIOrigin: s.uiOrigin, UIConfirmed: s.uiConfirmed, Token: s.tokens.Find,
		Redact: s.secrets.Redact, Log: s.log,
	}, doors.watch(s.routes()))
	server := guard.Server(handler, s.log, s.secrets.Redact)
	limited := guard.Limit(ln, server, 0)

	s.instance.Port = s.port
	if err := s.instance.save(s.config.State); err != nil {
		ln.Close()
		return fmt.Errorf("tell other commands where the companion is: %w", err)
	}
	defer os.Remove(instancePath(s.config.State))

	s.background.Go(func() { s.report("config", s.file.Serve(s.ctx)) })
	served := make(chan struct{})
	servicesCtx, stopServices := context.WithCancel(context.Background())
	defer stopServices()
	go func() {
		defer close(served)
		s.report("services", s.services.Serve(servicesCtx))
	}()
	s.background.Go(func() { s.watchIdle(s.ctx) })
	s.background.Go(func() { s.report("tokens", s.tokens.Serve(s.ctx)) })
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	ready()
	s.background.Go(func() { s.spare.serve(s.ctx) })

	select {
	case err = <-failed:
		err = fmt.Errorf("serve on %s: %w", s.Address(), err)
	case <-s.ctx.Done():
		err = nil
	}
	s.quit()
	s.shutdown(ending{doors: doors, server: server, stopServices: stopServices, served: served})
	return err
}

func (s *Server) report(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error(what, "err", err)
	}
}

// idleTick is how often the server looks whether it is idle.
const idleTick = time.Second

// watchIdle ends the server after ExitWhenIdle without page, call or process.
// Time is counted in ticks, so that a laptop that slept does not count.
func (s *Server) watchIdle(ctx context.Context) {
	limit := s.idleLimit()
	if limit <= 0 {
		return
	}
	tick := time.NewTicker(idleTick)
	defer tick.Stop()
	for idle := time.Duration(0); idle < limit; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.busy() {
			idle = 0
		} else {
			idle += idleTick
		}
	}
	s.log.Info("nothing has happened for a while, the companion ends", "idle", limit)
	s.quit()
}

// idleLimit is how long the server stays without use; 0 is for ever.
func (s *Server) idleLimit() time.Duration {
	limit := cmp.Or(s.config.ExitWhenIdle, s.file.Current().Server.ExitWhenIdle)
	if limit == 0 && !s.config.Terminal {
		return DefaultIdle
	}
	return limit
}

func (s *Server) busy() bool {
	if s.hub.Listeners() > 0 || s.sessions.OpenCalls() > 0 || s.mcp.Busy() > 0 {
		return true
	}
	for _, one := range s.sessions.List() {
		if len(s.shell.Processes(one.ID)) > 0 {
			return true
		}
	}
	return false
}
