package localserver

import (
	"net/http"
	"os"
	"runtime"

	"zeroclaw/localserver/guard"
	"zeroclaw/services"
)

// Version is the companion's version. A page of the same major.minor works
// with it.
const (
	Version    = "0.1.0"
	APIVersion = "0.1"
)

// Problem is something that the user should know and can mend.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// problem shows a problem in the page, once for each code.
func (s *Server) problem(code, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.problems {
		if s.problems[i].Code == code {
			s.problems[i].Message = message
			return
		}
	}
	s.problems = append(s.problems, Problem{code, message})
}

// Problems lists what is wrong now: what start-up found, and the configuration.
func (s *Server) Problems() []Problem {
	s.mu.Lock()
	list := append([]Problem{}, s.problems...)
	s.mu.Unlock()
	for _, p := range s.file.Current().Problems {
		list = append(list, Problem{"config", p.String()})
	}
	return list
}

// getStatus serves GET /api/status.
func (s *Server) getStatus(w http.ResponseWriter, r *http.Request) {
	running := 0
	for _, st := range s.services.List() {
		if st.State == services.Running {
			running++
		}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{
		"name": "zeroclaw", "version": Version, "api": APIVersion,
		"os": runtime.GOOS, "distribution": s.distribution, "arch": runtime.GOARCH,
		"root": s.Root(), "home": s.config.Home, "state_dir": s.config.State, "pid": os.Getpid(),
		"started": s.started, "uptime_ms": s.config.Now().Sub(s.started).Milliseconds(),
		"problems": s.Problems(), "first_run": s.firstRun(), "terminal": s.config.Terminal,
		"loopback": guard.From(r).Loopback(), "ui": map[string]any{"origin": s.uiOrigin, "confirmed": s.uiConfirmed()},
		"counts": map[string]int{
			"sessions": len(s.sessions.List()), "calls": s.sessions.OpenCalls(), "questions": len(s.broker.Open()),
			"tabs": s.hub.Listeners(), "services": running,
		},
	})
}

// postQuit serves POST /api/quit.
func (s *Server) postQuit(w http.ResponseWriter, _ *http.Request) {
	guard.WriteJSON(w, http.StatusAccepted, struct{}{})
	s.quit()
}
