package localserver

import (
	"errors"
	"net/http"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/guard"
)

// configError maps errors of the configuration to answers of the API. changed
// is the code for a version that is no longer current.
func configError(err error, changed string) error {
	var field *config.FieldError
	switch {
	case errors.Is(err, config.ErrChanged):
		return &guard.Error{Status: http.StatusConflict, Code: changed, Field: "version", Message: err.Error()}
	case errors.Is(err, config.ErrUnrepaired):
		return &guard.Error{Status: http.StatusConflict, Code: "config_unreadable", Message: err.Error()}
	case errors.Is(err, config.ErrBusy):
		return &guard.Error{Status: http.StatusServiceUnavailable, Code: "config_busy", Message: err.Error()}
	case errors.Is(err, config.ErrUnknownPath):
		return &guard.Error{Status: http.StatusNotFound, Code: "path_not_found", Field: "path", Message: err.Error()}
	case errors.As(err, &field):
		e := &guard.Error{Status: http.StatusBadRequest, Code: "invalid_value", Field: field.Path, Message: err.Error()}
		if len(field.Lines) > 0 {
			e.Code, e.Beside = "invalid_rule", map[string]any{"lines": field.Lines}
		}
		return e
	}
	return &guard.Error{Status: http.StatusInternalServerError, Code: "not_saved", Message: err.Error()}
}

// getConfigList serves GET /api/config/list.
func (s *Server) getConfigList(w http.ResponseWriter, r *http.Request) {
	now := s.file.Current()
	problems := now.Problems
	if problems == nil {
		problems = []config.Problem{}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{
		"version": now.Version, "props": now.List(r.URL.Query().Get("prefix")), "problems": problems,
		"read_only": now.Unreadable, "file": s.file.Path(),
	})
}

// getConfigProp serves GET /api/config/prop.
func (s *Server) getConfigProp(w http.ResponseWriter, r *http.Request) {
	p, err := s.file.Current().Get(r.URL.Query().Get("path"))
	if err != nil {
		guard.WriteError(w, configError(err, ""))
		return
	}
	guard.WriteJSON(w, http.StatusOK, p)
}

// putConfigProp serves PUT /api/config/prop. A table as the value sets the
// settings of an entry that it names, all or none of them.
func (s *Server) putConfigProp(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Value   any    `json:"value"`
		Version string `json:"version"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	path := r.URL.Query().Get("path")
	if err := s.editConfig(r, in.Version, config.Edit{Path: path, Value: in.Value}); err != nil {
		guard.WriteError(w, err)
		return
	}
	if _, ok := in.Value.(map[string]any); ok {
		// A table set several settings at once; it is no setting that could be shown.
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.getConfigProp(w, r)
}

// deleteConfigProp serves DELETE /api/config/prop.
func (s *Server) deleteConfigProp(w http.ResponseWriter, r *http.Request) {
	s.changeConfig(w, r, http.StatusNoContent, config.Edit{Op: config.Unset, Path: r.URL.Query().Get("path")})
}

// postConfigKey serves POST /api/config/map-key.
func (s *Server) postConfigKey(w http.ResponseWriter, r *http.Request) {
	var none struct{}
	if err := guard.Decode(r, &none); err != nil {
		guard.WriteError(w, err)
		return
	}
	q := r.URL.Query()
	s.changeConfig(w, r, http.StatusCreated, config.Edit{Op: config.Add, Path: config.Join(q.Get("path"), q.Get("key"))})
}

// deleteConfigKey serves DELETE /api/config/map-key.
func (s *Server) deleteConfigKey(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.changeConfig(w, r, http.StatusNoContent, config.Edit{Op: config.Remove, Path: config.Join(q.Get("path"), q.Get("key"))})
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

func (s *Server) changeConfig(w http.ResponseWriter, r *http.Request, code int, e config.Edit) {
	if err := s.editConfig(r, "", e); err != nil {
		guard.WriteError(w, err)
		return
	}
	w.WriteHeader(code)
}

// editConfig saves one edit.
func (s *Server) editConfig(r *http.Request, version string, e config.Edit) error {
	var err error
	if version != "" {
		_, err = s.file.Set(r.Context(), version, []config.Edit{e})
	} else {
		_, err = s.file.Update(r.Context(), func(*config.Settings) ([]config.Edit, error) { return []config.Edit{e}, nil })
	}
	if err != nil {
		return configError(err, "config_changed_externally")
	}
	return nil
}
