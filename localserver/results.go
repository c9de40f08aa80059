package localserver

import (
	"io"
	"net/http"
	"strconv"

	"zeroclaw/tools/results"
)

// shown reports whether a browser may show a type itself; anything else is only
// downloaded, so that nothing of it runs in our origin.
func shown(mime string) bool {
	return results.Admitted(mime) != "" || mime == "text/plain; charset=utf-8"
}

func serveBytes(w http.ResponseWriter, mime string, size int64, f io.Reader) {
	if !shown(mime) {
		mime = "application/octet-stream"
		w.Header().Set("Content-Disposition", "attachment")
	}
	w.Header().Set("Content-Type", mime)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, _ = io.Copy(w, f) // a reader that is gone is no fault
}

// getResult serves GET /api/results/{id}.
func (s *Server) getResult(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") == "application/octet-stream" {
		o, f, err := s.store.Open(r.Context(), r.PathValue("id"))
		if err != nil {
			s.stored(w, 0, nil, err)
			return
		}
		defer f.Close()
		serveBytes(w, o.MIME, o.Size, f)
		return
	}
	page, err := s.store.Result(r.Context(), r.PathValue("id"), number(r, "offset"), number(r, "limit"))
	s.stored(w, http.StatusOK, page, err)
}
