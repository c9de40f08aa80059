package guard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Auth is what a route asks of its caller. The zero value is no class at all
// and is refused by Check.
type Auth int

// The auth classes.
const (
	Token Auth = iota + 1 // the token of a page or of the command line; never a named token
	Host                  // any token, named ones too (/mcp)
	None                  // nobody to tell apart: the static page, pairing
	State                 // a one-use state in the request, checked by the handler (/oauth/callback)
)

// Body is what a route takes as its request body. The zero value is no class
// at all and is refused by Check.
type Body int

// The body classes and their default limits.
const (
	NoBody Body = iota + 1 // a request with a body is refused
	JSON                   // one strict JSON value, 4 MiB; read and checked before the handler runs
	Stream                 // handed over unread, 32 MiB; each piece must come in time
	Upload                 // raw bytes, handed over likewise, 32 MiB
)

// Default limits of the body classes, in bytes.
const (
	MaxJSON   = 4 << 20
	MaxUpload = 32 << 20
	MaxStream = 32 << 20
)

// Route is one line of the route table. Pattern is a path pattern of
// http.ServeMux without method and host ("/api/sessions/{id}"); a GET route
// answers HEAD as well. Several routes may share a Pattern with different
// methods. MaxBody, in bytes, replaces the default limit of the body class. The
// context of a request ends with Until, too, if there is one.
type Route struct {
	Method  string
	Pattern string
	Auth    Auth
	Body    Body
	MaxBody int64
	Handler http.Handler
	Until   context.Context
}

// AnyMethod as a Route's Method accepts the methods that a relay or an MCP
// endpoint needs: GET, HEAD, POST, PUT, PATCH and DELETE. A GET, HEAD or
// DELETE may then come without a body whatever the body class is.
const AnyMethod = "ANY"

var anyMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// Check says what is wrong with a route table: a missing class, method or
// handler, a duplicate, or a combination that could not be safe (a GET that
// takes a JSON body). nil means that New accepts it.
func Check(routes []Route) error {
	var errs []error
	seen := map[string]bool{}
	for _, r := range routes {
		name := r.Method + " " + r.Pattern
		fail := func(what string) { errs = append(errs, fmt.Errorf("route %s: %s", name, what)) }
		switch {
		case seen[name]:
			fail("registered twice")
		case !strings.HasPrefix(r.Pattern, "/"):
			fail("its pattern must be a path")
		case r.Method != AnyMethod && !slices.Contains(anyMethods, r.Method):
			fail("its method is none of GET, POST, PUT, PATCH, DELETE")
		case r.Auth < Token || r.Auth > State:
			fail("it declares no auth class")
		case r.Body < NoBody || r.Body > Upload:
			fail("it declares no body class")
		case r.Handler == nil:
			fail("it has no handler")
		case (r.Method == "GET" || r.Method == "HEAD") && r.Body != NoBody:
			fail("a GET takes no body")
		case isAPI(r.Pattern) && r.Auth == Host:
			fail("named tokens open nothing under /api")
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

func (r Route) limit() int64 {
	switch {
	case r.MaxBody > 0:
		return r.MaxBody
	case r.Body == JSON:
		return MaxJSON
	case r.Body == Upload:
		return MaxUpload
	case r.Body == Stream:
		return MaxStream
	}
	return 0
}

// methods lists what a pattern accepts, in the order of the Allow header.
func methods(routes []Route) []string {
	var all []string
	for _, m := range anyMethods {
		if _, ok := pick(routes, m); ok {
			all = append(all, m)
		}
	}
	return all
}

// pick finds the route of one pattern for a method. A route that names the
// method wins over one that accepts any.
func pick(routes []Route, method string) (Route, bool) {
	want := method
	if want == "HEAD" {
		want = "GET"
	}
	for _, r := range routes {
		if r.Method == method || r.Method == want {
			return r, true
		}
	}
	if slices.Contains(anyMethods, method) {
		for _, r := range routes {
			if r.Method == AnyMethod {
				return r, true
			}
		}
	}
	return Route{}, false
}

func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
