package localserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"zeroclaw/localserver/guard"
)

// static serves the page. Nothing in it is secret and nothing is listed.
type static struct {
	files fs.FS
}

// contentTypes are the types of the page's files. They are fixed here because
// those of the machine may lack or change them, and nosniff forbids guessing.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json", ".txt": "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// ServeHTTP serves GET / and the files below it.
func (s static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	kind, ok := contentTypes[path.Ext(name)]
	data, err := fs.ReadFile(s.files, name)
	if !ok || err != nil || !fs.ValidPath(name) {
		guard.WriteError(w, &guard.Error{Status: http.StatusNotFound, Code: "not_found", Message: "the page has no such file"})
		return
	}
	w.Header().Set("Content-Type", kind)
	// Checked anew each time: after an update the page must not be a mixture
	// of two versions.
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", etag(data))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

func etag(data []byte) string {
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}
