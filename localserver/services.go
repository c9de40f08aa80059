package localserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"syscall"

	"zeroclaw/localserver/guard"
	"zeroclaw/services"
	"zeroclaw/tools/atomicfile"
)

// getServices serves GET /api/services.
func (s *Server) getServices(w http.ResponseWriter, _ *http.Request) {
	list := []services.Status{}
	for _, st := range s.services.List() {
		if st.Origin == services.OriginService {
			list = append(list, st)
		}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"services": list})
}

// postService serves POST /api/services/{id}/{action}: it answers at once,
// what comes of it arrives as events.
func (s *Server) postService(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	var err error
	switch r.PathValue("action") {
	case "install":
		err = s.services.Install(id)
	case "start":
		err = s.services.Start(id)
	case "stop":
		err = s.stopSoon(id)
	case "restart":
		err = s.services.Restart(id)
	case "retry":
		err = s.services.Retry(id)
	default:
		err = &guard.Error{Status: http.StatusNotFound, Code: "not_found", Message: "a service can be installed, started, stopped, restarted or retried"}
	}
	s.answerService(w, id, http.StatusAccepted, err)
}

// putServiceOptions serves PUT /api/services/{id}/options.
func (s *Server) putServiceOptions(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Options   map[string]any `json:"options"`
		Autostart *bool          `json:"autostart"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	id := r.PathValue("id")
	s.answerService(w, id, http.StatusOK, s.services.SetOptions(id, in.Options, in.Autostart))
}

// stopSoon stops a service without waiting for its end.
func (s *Server) stopSoon(id string) error {
	if _, err := s.services.Status(id); err != nil {
		return err
	}
	s.background.Go(func() {
		if err := s.services.Stop(s.ctx, id); err != nil {
			s.log.Warn("stop a service", "service", id, "err", err)
		}
	})
	return nil
}

func (s *Server) answerService(w http.ResponseWriter, id string, code int, err error) {
	if err == nil {
		var st services.Status
		if st, err = s.services.Status(id); err == nil {
			guard.WriteJSON(w, code, st)
			return
		}
	}
	guard.WriteError(w, serviceError(err))
}

func serviceError(err error) error {
	var known *guard.Error
	var option *services.OptionError
	var disk syscall.Errno
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, services.ErrUnknown):
		return &guard.Error{Status: http.StatusNotFound, Code: "unknown_service", Message: err.Error()}
	case errors.As(err, &option):
		return &guard.Error{Status: http.StatusBadRequest, Code: "invalid_value", Field: "options." + option.ID, Message: err.Error()}
	case errors.As(err, &disk), errors.Is(err, atomicfile.ErrNotRegular):
		return &guard.Error{Status: http.StatusInternalServerError, Code: "not_saved", Message: err.Error()}
	case errors.As(err, &syntax), errors.As(err, &kind): // the file of the settings waits for its repair
		return &guard.Error{Status: http.StatusServiceUnavailable, Code: "not_saved", Message: err.Error()}
	}
	return &guard.Error{Status: http.StatusConflict, Code: "service", Message: err.Error()}
}

// getServiceLogs serves GET /api/services/{id}/logs.
func (s *Server) getServiceLogs(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	lines, err := s.services.Logs(r.PathValue("id"), after)
	if err != nil {
		guard.WriteError(w, serviceError(err))
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"lines": lines})
}
