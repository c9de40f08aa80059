package guard

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// Error is an answer in the shape of the API:
// {"error":{"code":…,"message":…,"field":…}}. Code is stable, Message is a
// sentence that says what to do next, Field names the one field to blame, if
// there is one. Beside holds further keys of the body that stand next to
// "error" (the "lines" of invalid_rule).
type Error struct {
	Status  int
	Code    string
	Message string
	Field   string
	Beside  map[string]any
}

func (e *Error) Error() string {
	if e.Field != "" {
		return e.Code + ": " + e.Field + ": " + e.Message
	}
	return e.Code + ": " + e.Message
}

// WriteError answers with err: as it is when it is or wraps an *Error, as 400
// when it is a *FieldError, else as 500 without its text, which may hold what
// is not for the caller.
func WriteError(w http.ResponseWriter, err error) {
	var e *Error
	var f *FieldError
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &e):
	case errors.As(err, &f):
		e = &Error{Status: http.StatusBadRequest, Code: "bad_request", Message: f.Message, Field: f.Field}
	case errors.As(err, &big):
		e = tooLarge(big.Limit)
	default:
		e = &Error{Status: http.StatusInternalServerError, Code: "internal",
			Message: "something went wrong inside the companion; its log says more"}
	}
	type shape struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Field   string `json:"field,omitempty"`
	}
	body := map[string]any{}
	for k, v := range e.Beside {
		body[k] = v
	}
	body["error"] = shape{e.Code, e.Message, e.Field}
	WriteJSON(w, e.Status, body)
}

// WriteJSON answers with status and v as JSON. A value that cannot be
// marshalled becomes a 500.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		WriteError(w, err)
		return
	}
	WriteEncoded(w, status, append(text, '\n'))
}

// WriteEncoded answers with a value that is JSON already, in parts that follow
// each other.
func WriteEncoded(w http.ResponseWriter, status int, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	for _, p := range parts {
		w.Write(p)
	}
}
