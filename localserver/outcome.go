package localserver

import (
	"encoding/json"
	"net/http"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/session"
)

// writeOutcome answers with a call. What it brought back may be many megabytes
// and is JSON already: it is sent as it is, not copied into another text.
func writeOutcome(w http.ResponseWriter, call session.Live, err error) {
	if err != nil {
		guard.WriteError(w, sessionError(err))
		return
	}
	content, structured := call.Content, call.Structured
	call.Content, call.Structured = nil, nil
	rest, err := json.Marshal(call)
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	parts := [][]byte{[]byte("{")}
	if len(content) > 0 {
		parts = append(parts, []byte(`"content":[`))
		for i, item := range content {
			if i > 0 {
				parts = append(parts, []byte(","))
			}
			parts = append(parts, item)
		}
		parts = append(parts, []byte("],"))
	}
	if len(structured) > 0 {
		parts = append(parts, []byte(`"structured":`), structured, []byte(","))
	}
	guard.WriteEncoded(w, http.StatusOK, append(parts, rest[1:], []byte("\n"))...)
}
