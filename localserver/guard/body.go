package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
)

func tooLarge(limit int64) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "too_large",
		Message: fmt.Sprintf("the body is larger than the %d bytes this address takes; send less", limit)}
}

// checkSize judges the announced length; it reads nothing.
func checkSize(route Route, r *http.Request) *Error {
	if route.Body == NoBody {
		return nil
	}
	if r.ContentLength > route.limit() {
		return tooLarge(route.limit())
	}
	return nil
}

// admitBody prepares the body for the handler as its class says. It runs after
// the token check.
func (g *guard) admitBody(route Route, w http.ResponseWriter, r *http.Request) *Error {
	if r.ContentLength == 0 && (route.Body != JSON || route.Method == AnyMethod && bodiless(r.Method)) {
		r.Body = http.NoBody
		return nil
	}
	if route.Body == NoBody {
		return &Error{Status: http.StatusBadRequest, Code: "unexpected_body",
			Message: "this address takes no body; send the request without one"}
	}
	if enc := r.Header.Values("Content-Encoding"); len(enc) > 0 {
		return &Error{Status: http.StatusUnsupportedMediaType, Code: "wrong_encoding",
			Message: "compressed bodies are not taken; send it without Content-Encoding"}
	}
	if route.Body != JSON {
		r.Body = http.MaxBytesReader(w, &paced{r.Body, http.NewResponseController(w), g.c.PieceTimeout}, route.limit())
		return nil
	}
	if !isJSON(r.Header["Content-Type"]) {
		return &Error{Status: http.StatusUnsupportedMediaType, Code: "wrong_content_type",
			Message: "send the body as Content-Type: application/json"}
	}
	return g.readJSON(route, w, r)
}

// paced is a body that a handler reads as it comes, of which every piece has
// to arrive in time: nobody holds a handler by sending nothing.
type paced struct {
	io.ReadCloser
	rc       *http.ResponseController
	patience time.Duration
}

func (p *paced) Read(b []byte) (int, error) {
	// A writer without deadlines (a test recorder) reads without one.
	timed := p.rc.SetReadDeadline(time.Now().Add(p.patience)) == nil
	n, err := p.ReadCloser.Read(b)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = tooSlow()
	case err != nil && timed:
		p.rc.SetReadDeadline(time.Time{}) // what the connection waits for next has its own time
	}
	return n, err
}

func tooSlow() *Error {
	return &Error{Status: http.StatusRequestTimeout, Code: "too_slow", Message: "the body took too long to arrive; send it again"}
}

func bodiless(method string) bool { return method == "GET" || method == "HEAD" || method == "DELETE" }

// isJSON accepts application/json once, with no parameter but charset=utf-8.
// The types a form can send without a preflight are thereby refused.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if err != nil || kind != "application/json" {
		return false
	}
	for k, v := range params {
		if k != "charset" || !strings.EqualFold(v, "utf-8") {
			return false
		}
	}
	return true
}

// strangerTimeout is how long a body may take on a route that asks for no
// token.
const strangerTimeout = 2 * time.Second

// readJSON reads the whole body and checks what can be checked without
// knowing its fields; Decode does the rest in the handler.
func (g *guard) readJSON(route Route, w http.ResponseWriter, r *http.Request) *Error {
	rc := http.NewResponseController(w)
	// A writer without deadlines (a test recorder) reads without one.
	patience := g.c.BodyTimeout
	if route.Auth == None {
		patience = min(patience, strangerTimeout) // anybody can ask, so nobody may hold on
	}
	timed := rc.SetReadDeadline(time.Now().Add(patience)) == nil
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, route.limit()))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return tooLarge(big.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tooSlow()
	case err != nil:
		return &Error{Status: http.StatusBadRequest, Code: "broken_body", Message: "the body broke off before its end; send it again"}
	}
	if timed {
		rc.SetReadDeadline(time.Time{})
	}
	if f := CheckJSON(text); f != nil {
		return &Error{Status: http.StatusBadRequest, Code: "bad_json", Message: f.Message, Field: f.Field}
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return nil
}

// Decode reads the JSON body of r into the struct that into points to, by the
// strict rules of DecodeBytes. The error is an *Error with status 400 that
// names the field; pass it to WriteError.
func Decode(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	if f := DecodeBytes(text, into); f != nil {
		return &Error{Status: http.StatusBadRequest, Code: "bad_json", Message: f.Message, Field: f.Field}
	}
	return nil
}
