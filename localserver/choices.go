package localserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"zeroclaw/localserver/guard"
	"zeroclaw/tools/atomicfile"
)

// lastRootFile keeps the folder that was chosen in the page.
const lastRootFile = "last-root.json"

// LastRoot is the folder that was last chosen in the page, "" if none was or it
// is gone.
func LastRoot(state string) string {
	var last struct {
		Root string `json:"root"`
	}
	data, err := os.ReadFile(statePath(state, lastRootFile))
	if err != nil || json.Unmarshal(data, &last) != nil || !filepath.IsAbs(last.Root) {
		return ""
	}
	if info, err := os.Stat(last.Root); err != nil || !info.IsDir() {
		return ""
	}
	return last.Root
}

func (s *Server) saveRoot(root string) {
	s.saveChoice(lastRootFile, map[string]string{"root": root})
}

// saveChoice keeps something chosen in the page. Failing to is shown and costs
// nothing else.
func (s *Server) saveChoice(name string, v any) {
	data, err := json.Marshal(v)
	if err == nil {
		err = atomicfile.Write(statePath(s.config.State, name), append(data, '\n'), atomicfile.Options{Mode: 0o600})
	}
	if err != nil {
		s.problem("state", "a choice could not be saved: "+err.Error())
	}
}

// firstRun reports whether nothing was set up yet: no folder chosen and no
// configuration written.
func (s *Server) firstRun() bool {
	return LastRoot(s.config.State) == "" && !s.file.Current().Exists
}

// uiFile keeps the UI origin that a person has confirmed.
const uiFile = "ui.json"

type confirmedUI struct {
	Origin string `json:"origin"`
}

func (s *Server) loadUI() bool {
	var ui confirmedUI
	data, err := os.ReadFile(statePath(s.config.State, uiFile))
	return err == nil && json.Unmarshal(data, &ui) == nil && ui.Origin != "" && ui.Origin == s.uiOrigin
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

// fileURI is a path as a file: address.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
