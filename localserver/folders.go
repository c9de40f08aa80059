package localserver

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"zeroclaw/localserver/guard"
)

// maxFolders bounds what the folder picker shows of one folder.
const maxFolders = 2000

// folder is one entry of the folder picker.
type folder struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Hidden bool   `json:"hidden"`
}

// getFolders serves GET /api/folders: names of folders, nothing of files.
func (s *Server) getFolders(w http.ResponseWriter, r *http.Request) {
	path, err := s.folderPath(r.URL.Query().Get("path"))
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	entries, readErr := os.ReadDir(path)
	if readErr != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusNotFound, Code: folderCode(path, readErr), Field: "path",
			Message: "the folder cannot be listed: " + readErr.Error()})
		return
	}
	list := []folder{}
	for _, e := range entries {
		full := filepath.Join(path, e.Name())
		if !e.IsDir() {
			info, err := os.Stat(full)
			if e.Type()&os.ModeSymlink == 0 || err != nil || !info.IsDir() {
				continue
			}
		}
		list = append(list, folder{e.Name(), full, strings.HasPrefix(e.Name(), ".")})
	}
	slices.SortFunc(list, func(a, b folder) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	truncated := len(list) > maxFolders
	if truncated {
		list = list[:maxFolders]
	}
	parent := filepath.Dir(path)
	if parent == path {
		parent = ""
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"path": path, "parent": parent, "folders": list, "truncated": truncated})
}

// folderCode names why a folder cannot be used.
func folderCode(path string, err error) string {
	if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
		return "not_folder"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "folder_denied"
	}
	return "no_folder"
}

// folderPath makes an absolute path of what the picker asks for; "" is the
// current root.
func (s *Server) folderPath(path string) (string, error) {
	bad := func(why string) error {
		return &guard.Error{Status: http.StatusBadRequest, Code: "bad_path", Field: "path", Message: why}
	}
	switch {
	case path == "":
		path = s.Root()
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(s.config.Home, path[1:])
	case strings.ContainsRune(path, 0) || len(path) > 4096:
		return "", bad("the path is not possible")
	}
	if !filepath.IsAbs(path) {
		return "", bad("give an absolute path, or one that begins with ~/")
	}
	return filepath.Clean(path), nil
}

// putRoot serves PUT /api/root.
func (s *Server) putRoot(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Path string `json:"path"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if err := s.setRoot(in.Path); err != nil {
		guard.WriteError(w, err)
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]string{"root": s.Root()})
}

// setRoot changes the root of sessions opened from now on.
func (s *Server) setRoot(path string) error {
	path, err := s.folderPath(path)
	if err != nil {
		return err
	}
	if err := CheckRoot(s.config.State, path); err != nil {
		e := &guard.Error{Status: http.StatusBadRequest, Code: folderCode(path, err), Field: "path", Message: "the folder cannot be used: " + err.Error()}
		if errors.Is(err, errOwnState) {
			e.Code = "own_state"
		}
		return e
	}
	s.mu.Lock()
	s.root = path
	s.mu.Unlock()
	s.saveRoot(path)
	s.hub.Publish("root.changed", map[string]string{"root": path})
	s.background.Go(func() { s.services.RootsChanged(s.ctx) })
	return nil
}

var errOwnState = errors.New("it belongs to ZeroClaw itself; choose a folder of yours")

// CheckRoot says why sessions cannot work in a folder, given by its absolute
// path: it must exist and be none of the companion's own.
func CheckRoot(state, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	own, err := os.Stat(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // what exists does not lie in what does not
	}
	if err != nil {
		return err
	}
	// Compared as files, since the same folder may be spelled in several ways.
	for dir := real; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || os.SameFile(info, own) {
			return errors.Join(err, errOwnState)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
