package localserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"zeroclaw/localserver/guard"
	"zeroclaw/services"
)

// serverView is one configured server.
type serverView struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"` // not switched off in the file
	services.Status
}

// getServers serves GET /api/servers: the configured servers in the order of
// the file, those that cannot be used included.
func (s *Server) getServers(w http.ResponseWriter, _ *http.Request) {
	now := s.file.Current()
	known := map[string]services.Status{}
	for _, st := range s.services.List() {
		known[st.ID] = st
	}
	list := []serverView{}
	for _, d := range now.MCP.Definitions {
		if st, ok := known[d.Name]; ok && st.Origin == services.OriginServer {
			list = append(list, serverView{d.Name, !now.MCP.Off[d.Name], st})
		}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"servers": list, "mcp_enabled": now.MCP.Enabled, "version": now.Version})
}

// postServer serves POST /api/servers/{name}/{action}. What takes a while
// answers at once and goes on as events; test and discover answer with what
// they found.
func (s *Server) postServer(w http.ResponseWriter, r *http.Request) {
	name, action := r.PathValue("name"), r.PathValue("action")
	if action == "test" {
		s.testServer(w, r, name)
		return
	}
	var none struct{}
	if err := guard.Decode(r, &none); err != nil {
		guard.WriteError(w, err)
		return
	}
	if st, err := s.services.Status(name); err != nil || st.Origin != services.OriginServer {
		guard.WriteError(w, unknownServer(name))
		return
	}
	var err error
	switch action {
	case "connect":
		err = s.services.Start(name)
	case "disconnect":
		err = s.stopSoon(name)
	case "restart":
		err = s.services.Restart(name)
	case "retry":
		err = s.services.Retry(name)
	case "discover":
		s.discover(w, r, name)
		return
	case "authorize":
		err = &guard.Error{Status: http.StatusConflict, Code: "not_available", Message: "signing in with OAuth is not part of this version; give a header or a secret of the vault"}
	default:
		err = &guard.Error{Status: http.StatusNotFound, Code: "not_found", Message: "a server can be connected, disconnected, restarted, retried, tested or asked for its tools"}
	}
	if err != nil {
		guard.WriteError(w, serverError(err))
		return
	}
	st, err := s.services.Status(name)
	if err != nil {
		guard.WriteError(w, serverError(err))
		return
	}
	guard.WriteJSON(w, http.StatusAccepted, serverView{name, !s.file.Current().MCP.Off[name], st})
}

func unknownServer(name string) *guard.Error {
	return &guard.Error{Status: http.StatusNotFound, Code: "unknown_server", Message: "there is no configured server " + strconv.Quote(name)}
}

// serverError words what services say for a configured server.
func serverError(err error) error {
	e := serviceError(err)
	if known, ok := e.(*guard.Error); ok && known.Code == "service" {
		known.Code = "server"
	}
	return e
}

// discover reads a server's tools again and tells what changed.
func (s *Server) discover(w http.ResponseWriter, r *http.Request, name string) {
	d, err := s.services.Discover(r.Context(), name)
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadGateway, Code: "server", Message: err.Error()})
		return
	}
	guard.WriteJSON(w, http.StatusOK, d)
}

// getDiscoveries serves GET /api/servers/{name}/discoveries.
func (s *Server) getDiscoveries(w http.ResponseWriter, r *http.Request) {
	if _, err := s.services.Status(r.PathValue("name")); err != nil {
		guard.WriteError(w, unknownServer(r.PathValue("name")))
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"discoveries": s.services.Discoveries(r.PathValue("name"))})
}

// getServerLogs serves GET /api/servers/{name}/logs.
func (s *Server) getServerLogs(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	lines, err := s.services.Logs(r.PathValue("name"), after)
	if err != nil {
		guard.WriteError(w, unknownServer(r.PathValue("name")))
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"lines": lines})
}

// testTime bounds a test of a connection, over the server's own time.
const testTime = 2 * time.Minute

// testServer connects once with a definition, saved or not, and leaves nothing
// running.
func (s *Server) testServer(w http.ResponseWriter, r *http.Request, name string) {
	var in struct {
		Definition json.RawMessage `json:"definition"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	spec, err := s.definition(name, in.Definition)
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), testTime)
	defer cancel()
	guard.WriteJSON(w, http.StatusOK, s.services.Test(ctx, spec))
}

// definition is the saved definition of a name with changes that are not saved.
func (s *Server) definition(name string, changes json.RawMessage) (services.Spec, error) {
	now := s.file.Current()
	if len(changes) == 0 || string(changes) == "null" {
		i := slices.IndexFunc(now.MCP.Definitions, func(d services.Spec) bool { return d.Name == name })
		if i < 0 {
			return services.Spec{}, unknownServer(name)
		}
		return now.MCP.Definitions[i], nil
	}
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(changes))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil || fields == nil {
		return services.Spec{}, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "definition", Message: "give the settings of the server as an object"}
	}
	spec, err := s.file.Draft(name, fields)
	if err != nil {
		return services.Spec{}, configError(err, "")
	}
	return spec, nil
}
