package localserver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/store"
	"zeroclaw/tools/atomicfile"
)

// attachment is one file in a conversation's uploads.
type attachment struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	MIME string `json:"mime"`
}

// uploads opens the uploads folder of a conversation as the root of everything
// that is done in it.
func (s *Server) uploads(r *http.Request, create bool) (*os.Root, string, error) {
	c, err := s.store.Conversation(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, "", storeError(err)
	}
	dir := filepath.Join(s.workspace(c.ID), "uploads")
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, "", fmt.Errorf("create the conversation's folder: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	return root, dir, err
}

func (s *Server) workspace(conversation string) string {
	return filepath.Join(s.config.State, "sessions", conversation)
}

// removeWorkspace deletes the files of a conversation that is gone.
func (s *Server) removeWorkspace(conversation string) error {
	if conversation == "" || !filepath.IsLocal(conversation) || strings.ContainsAny(conversation, `/\.`) {
		return nil
	}
	return os.RemoveAll(s.workspace(conversation))
}

// postFile serves POST /api/conversations/{id}/files.
func (s *Server) postFile(w http.ResponseWriter, r *http.Request) {
	name := fileName(r.URL.Query().Get("name"))
	if name == "" {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "name", Message: "give the file a name without slashes"})
		return
	}
	root, dir, err := s.uploads(r, true)
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	defer root.Close()
	part := partPrefix + rand.Text()
	defer func() { _ = root.Remove(part) }() // gone already where it was renamed
	size, err := atomicfile.WriteIn(root, part, r.Body, atomicfile.Options{Mode: 0o600})
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	if name, err = takeName(root, part, name); err != nil {
		guard.WriteError(w, fmt.Errorf("name the attachment: %w", err))
		return
	}
	// A deletion of the conversation may have passed by while the bytes came.
	if _, err := s.store.Conversation(r.Context(), r.PathValue("id")); errors.Is(err, store.ErrNotFound) {
		guard.WriteError(w, storeError(errors.Join(err, s.removeWorkspace(r.PathValue("id")))))
		return
	}
	a := attachment{Name: name, Path: filepath.Join(dir, name), Size: size}
	a.MIME = sniff(root, name)
	guard.WriteJSON(w, http.StatusCreated, a)
}

// fileName makes a plain file name of what the page calls an attachment.
func fileName(name string) string {
	name = filepath.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"|?*/\`, r) || r == 0x7f {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimRight(name, ". "), ".")
	for len(name) > 200 {
		name = name[:len(name)-1]
	}
	return strings.ToValidUTF8(name, "_")
}

// partPrefix begins the name of an upload until all of it has come; fileName
// makes no such name.
const partPrefix = ".part-"

// takeName gives a whole upload its name, or one with a number where it is
// taken, so that uploads at the same time do not meet.
func takeName(root *os.Root, part, name string) (string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := 2; ; i++ {
		err := root.Link(part, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = reserve(root, part, name) // a volume without hard links
		}
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) || i > 10_000 {
			return "", err
		}
		name = stem + "-" + strconv.Itoa(i) + ext
	}
}

// reserve takes a free name with an empty file and puts the upload in its place.
func reserve(root *os.Root, part, name string) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), root.Rename(part, name)); err != nil {
		err = errors.Join(err, root.Remove(name))
	}
	return err
}

// sniff reads the type of a file off its bytes.
func sniff(root *os.Root, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return "application/octet-stream"
	}
	defer f.Close()
	m, err := mimetype.DetectReader(f)
	if err != nil {
		return "application/octet-stream"
	}
	return m.String()
}

// getFiles serves GET /api/conversations/{id}/files.
func (s *Server) getFiles(w http.ResponseWriter, r *http.Request) {
	list := []attachment{}
	root, dir, err := s.uploads(r, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		guard.WriteError(w, err)
		return
	}
	if err == nil {
		defer root.Close()
		entries, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			guard.WriteError(w, err)
			return
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				list = append(list, attachment{e.Name(), filepath.Join(dir, e.Name()), info.Size(), sniff(root, e.Name())})
			}
		}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"files": list})
}

// getFile serves GET /api/conversations/{id}/files/{name}.
func (s *Server) getFile(w http.ResponseWriter, r *http.Request) {
	missing := &guard.Error{Status: http.StatusNotFound, Code: "not_found", Message: "the conversation has no such file"}
	root, _, err := s.uploads(r, false)
	if errors.Is(err, fs.ErrNotExist) {
		err = missing
	}
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	defer root.Close()
	name := r.PathValue("name")
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(name, ".") {
		guard.WriteError(w, missing)
		return
	}
	f, err := root.Open(name)
	if err != nil {
		guard.WriteError(w, missing)
		return
	}
	defer f.Close()
	serveBytes(w, sniff(root, name), info.Size(), f)
}
