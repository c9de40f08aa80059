package localserver

import (
	"net/http"

	"zeroclaw/localserver/guard"
	"zeroclaw/tools/atomicfile"
)

// uiFile keeps the UI origin that a person has confirmed.
const uiFile = "ui.json"

type confirmedUI struct {
	Origin string `json:"origin"`
}

func (s *Server) loadUI() bool {
	var ui confirmedUI
	_, err := atomicfile.ReadJSON(statePath(s.config.State, uiFile), maxChoice, &ui)
	return err == nil && ui.Origin != "" && ui.Origin == s.uiOrigin
}

// uiConfirmed reports whether a person has let the page of the other origin in.
func (s *Server) uiConfirmed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uiOK
}

// postUI serves POST /api/ui: a person on the loopback page lets the other
// origin in, and gets the address to go on at.
func (s *Server) postUI(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Origin    string `json:"origin"`
		Confirmed bool   `json:"confirmed"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if !guard.From(r).Loopback() || s.uiOrigin == "" || in.Origin != s.uiOrigin {
		guard.WriteError(w, &guard.Error{Status: http.StatusForbidden, Code: "wrong_origin", Field: "origin",
			Message: "only the origin that the companion was started with can be let in, and only from the companion's own page"})
		return
	}
	s.mu.Lock()
	s.uiOK = in.Confirmed
	s.mu.Unlock()
	if !in.Confirmed {
		s.saveChoice(uiFile, confirmedUI{})
		guard.WriteJSON(w, http.StatusOK, map[string]string{"url": s.Address()})
		return
	}
	s.saveChoice(uiFile, confirmedUI{s.uiOrigin})
	guard.WriteJSON(w, http.StatusOK, map[string]string{"url": s.uiURL(launchLife)})
}

// ownPage refuses a handler to a page on another origin.
func (s *Server) ownPage(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !guard.From(r).Loopback() {
			guard.WriteError(w, &guard.Error{Status: http.StatusForbidden, Code: "loopback_only",
				Message: "this is changed " + openOwnPage})
			return
		}
		h(w, r)
	}
}
