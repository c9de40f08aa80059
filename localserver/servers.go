package localserver

import (
	"net/http"
	"strconv"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/guard"
	"zeroclaw/services"
)

// serverView is one configured server.
type serverView struct {
	Name string `json:"name"`
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
			list = append(list, serverView{d.Name, st})
		}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"servers": list, "mcp_enabled": now.MCP.Enabled, "version": now.Version})
}

// postServer serves POST /api/servers/{name}/{action}. What takes a while
// answers at once and goes on as events; test and discover answer with what
// they found.
func (s *Server) postServer(w http.ResponseWriter, r *http.Request) {
	name, action := r.PathValue("name"), r.PathValue("action")
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
	guard.WriteJSON(w, http.StatusAccepted, serverView{name, st})
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

// postRename serves POST /api/config/rename-map-key.
func (s *Server) postRename(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Path    string `json:"path"`
		From    string `json:"from"`
		To      string `json:"to"`
		Version string `json:"version"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if err := s.editConfig(r, in.Version, config.Edit{Op: config.Rename, Path: config.Join(in.Path, in.From), Value: in.To}); err != nil {
		guard.WriteError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
