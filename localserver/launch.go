package localserver

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"zeroclaw/localserver/guard"
)

// How long a launch code may be traded for a token.
const (
	launchLife  = time.Minute      // one that a browser is opened with
	printedLife = 10 * time.Minute // one that a person has to copy
)

// Launch says what kind of address the page is to be opened with.
type Launch struct {
	Printed bool `json:"printed"` // a person copies it, so it lives longer
	Own     bool `json:"own"`     // the companion's own page, also where a page on another origin was let in
}

// LaunchURL is an address that opens the page once. A page on another origin
// is opened there once a person has let it in; until then our own page asks.
func (s *Server) LaunchURL(l Launch) string {
	life := launchLife
	if l.Printed {
		life = printedLife
	}
	if !l.Own && s.OtherPage() != "" {
		return s.uiURL(life)
	}
	return s.Address() + "#code=" + s.pairing.code(life)
}

// OtherPage is the other origin whose page is opened instead of our own, ""
// while none was let in.
func (s *Server) OtherPage() string {
	if !s.uiConfirmed() {
		return ""
	}
	return s.uiOrigin
}

// uiURL opens the page on the other origin and tells it where we are.
func (s *Server) uiURL(life time.Duration) string {
	return s.uiOrigin + "/#code=" + s.pairing.code(life) + "&server=" + url.QueryEscape(strings.TrimSuffix(s.Address(), "/"))
}

// openOwnPage says how a person gets to the companion's own page.
const openOwnPage = "only on the page that the companion itself serves; zeroclaw open --own opens it"

// postLaunch serves POST /api/launch: a fresh address to open the page with.
// A page on another origin may not ask.
func (s *Server) postLaunch(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Launch
		Root string `json:"root"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if in.Root != "" {
		if err := s.setRoot(in.Root); err != nil {
			guard.WriteError(w, err)
			return
		}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]string{"url": s.LaunchURL(in.Launch)})
}
