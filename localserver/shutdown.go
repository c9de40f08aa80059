package localserver

import (
	"context"
	"net/http"
	"sync"
	"time"

	"zeroclaw/localserver/guard"
)

// shutdownTime bounds the orderly end. Parts of it are callsTime, in which calls
// may end by themselves, settleTime, in which connections may, and flushTime,
// which is kept for what goes to the disk last.
const (
	shutdownTime = 5 * time.Second
	flushTime    = time.Second
	callsTime    = 2 * time.Second
	settleTime   = 500 * time.Millisecond
)

// doors lets requests in that may begin something, until they are closed.
type doors struct {
	over  context.Context // ends when they close
	close context.CancelFunc

	mu     sync.Mutex
	inside sync.WaitGroup // requests that were let in
}

func newDoors() *doors {
	d := &doors{}
	d.over, d.close = context.WithCancel(context.Background())
	return d
}

// watch puts the doors in front of every route that may begin something. What
// only reads, or ends something, is served for as long as there are connections.
func (d *doors) watch(routes []guard.Route) []guard.Route {
	for i, r := range routes {
		if r.Method != http.MethodGet && r.Method != http.MethodDelete {
			routes[i].Handler = d.before(r.Handler)
			routes[i].Until = d.over
		}
	}
	return routes
}

func (d *doors) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.enter() {
			guard.WriteError(w, &guard.Error{Status: http.StatusServiceUnavailable, Code: "ending",
				Message: "the companion is ending; start it again"})
			return
		}
		defer d.inside.Done()
		next.ServeHTTP(w, r)
	})
}

func (d *doors) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over.Err() != nil {
		return false
	}
	d.inside.Add(1)
	return true
}

// shut refuses what comes from now on and cancels what is inside.
func (d *doors) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.close()
}

// ending is what Serve has started and shutdown ends.
type ending struct {
	doors        *doors
	server       *http.Server
	stopServices func()
	served       <-chan struct{} // closed when no service is left
}

// shutdown ends everything in order: nothing new is taken, calls are cancelled,
// services stopped, what is left killed, files flushed. A step that takes too
// long is left behind: the end of the program ends it.
func (s *Server) shutdown(e ending) {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime-flushTime)
	defer cancel()
	e.doors.shut()
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		if err := e.server.Shutdown(ctx); err != nil {
			e.server.Close()
		}
	}()
	calls, noMore := context.WithTimeout(ctx, callsTime)
	defer noMore()
	s.within(calls, "calls", func() {
		s.mcp.Close(calls)
		s.sessions.Close()
		// A request that was inside already may have opened one more.
		e.doors.inside.Wait()
		s.sessions.Close()
		s.shell.Close("")
	})
	e.stopServices()
	streams := make(chan struct{})
	go func() {
		defer close(streams)
		s.hub.Close()
	}()
	s.within(ctx, "services", func() { <-e.served })
	s.within(ctx, "event streams", func() { <-streams })
	select {
	case <-accepted:
	case <-time.After(settleTime):
		// What is left are answers nobody reads and sockets that a browser opened
		// ahead of time, which Shutdown would wait five seconds for.
		e.server.Close()
	}
	s.within(ctx, "connections", func() { <-accepted })
	s.within(ctx, "background work", s.background.Wait)
	// What is flushed gets its moment even where something else took all.
	flush, flushed := context.WithTimeout(context.Background(), flushTime)
	defer flushed()
	s.within(flush, "files", func() {
		s.report("audit", s.audit.Close())
		s.report("store", s.store.Close())
		s.report("definitions", s.definitions.Close())
	})
}

// within waits for f, at most until ctx ends.
func (s *Server) within(ctx context.Context, what string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.log.Warn("something did not end in time", "what", what)
	}
}
