package guard

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Config is what the guard has to know. Port is required, the rest has a safe
// zero value.
type Config struct {
	// Port is the port on 127.0.0.1 that the server listens on.
	Port int
	// UIOrigin is the one other origin whose page may talk to the server,
	// exactly as browsers send it ("https://ui.example"); "" allows none.
	UIOrigin string
	// UIConfirmed reports whether a person has agreed to UIOrigin on the
	// loopback page. Until then its requests with a token are refused; nil
	// means never. Routes of class None are let through: pairing is where
	// the question is asked.
	UIConfirmed func() bool
	// Token finds whose token was presented, in constant time (Keyring.Find).
	// A request's context ends when its token is revoked. nil knows no token.
	Token func(presented string) (TokenInfo, bool)
	// StaticHeaders may set Cache-Control and the like for the answer to a
	// request of class None outside /api; such answers are no-store otherwise.
	StaticHeaders func(h http.Header, path string)
	// BodyTimeout is how long the body of class JSON may take to arrive;
	// 0 is 30 s.
	BodyTimeout time.Duration
	// PieceTimeout is how long the next bytes of a body may take that is handed
	// over unread; 0 is 10 s.
	PieceTimeout time.Duration
	// Redact removes secrets from text that is logged; nil leaves it as it is.
	Redact func(string) string
	// Log receives panics of handlers; nil is slog.Default().
	Log *slog.Logger
}

type guard struct {
	c               Config
	host, localhost string
	mux             *http.ServeMux
}

// New builds the handler for a route table: every request passes the guard,
// then reaches the handler of its route, or is answered with an error. It
// panics on a table that Check refuses.
func New(c Config, routes []Route) http.Handler {
	if err := Check(routes); err != nil {
		panic(fmt.Sprintf("guard: route table: %v", err))
	}
	if c.BodyTimeout == 0 {
		c.BodyTimeout = 30 * time.Second
	}
	if c.PieceTimeout == 0 {
		c.PieceTimeout = 10 * time.Second
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Token == nil {
		c.Token = func(string) (TokenInfo, bool) { return TokenInfo{}, false }
	}
	g := &guard{c: c, mux: http.NewServeMux(),
		host: "127.0.0.1:" + strconv.Itoa(c.Port), localhost: "localhost:" + strconv.Itoa(c.Port)}
	if c.Port == 80 {
		// Browsers leave the default port out.
		g.host, g.localhost = "127.0.0.1", "localhost"
	}
	group := map[string][]Route{}
	for _, r := range routes {
		group[r.Pattern] = append(group[r.Pattern], r)
	}
	for pattern, rs := range group {
		g.mux.Handle(pattern, g.route(rs))
	}
	// What no route covers still asks for the token below /api.
	for _, tree := range []string{"/", "/api/"} {
		taken := false
		for pattern := range group {
			taken = taken || pattern == tree || strings.HasPrefix(pattern, tree+"{") && strings.HasSuffix(pattern, "...}") &&
				strings.Count(pattern, "/") == strings.Count(tree, "/")
		}
		if !taken {
			g.mux.Handle(tree, g.unknown(tree))
		}
	}
	return g
}

// ServeHTTP runs the checks that need no route, then finds the route.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, body: r.Body}
	defer a.drain()
	defer g.recovered(a, r)
	secure(a.Header())
	if e := g.checkHost(r); e != nil {
		g.refuse(a, r, e)
		return
	}
	if e := plainTarget(r); e != nil {
		g.refuse(a, r, e)
		return
	}
	if r.Host != g.host && isNavigation(r) {
		a.Header().Set("Location", "http://"+g.host+r.URL.RequestURI())
		a.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	ui, e := g.checkOrigin(r)
	g.allowOrigin(a.Header(), ui)
	if e != nil {
		g.refuse(a, r, e)
		return
	}
	if ui != "" {
		r = r.WithContext(WithClient(r.Context(), Client{UIOrigin: ui}))
	}
	g.mux.ServeHTTP(a, r)
}

// route is the rest of the guard for the routes of one pattern.
func (g *guard) route(routes []Route) http.Handler {
	allowed := methods(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := From(r)
		if client.UIOrigin != "" && isPreflight(r) {
			g.preflight(w, r, allowed)
			return
		}
		route, ok := pick(routes, r.Method)
		if !ok {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			g.refuse(w, r, &Error{Status: http.StatusMethodNotAllowed, Code: "wrong_method",
				Message: "this address takes " + strings.Join(allowed, ", ")})
			return
		}
		if e := checkSize(route, r); e != nil {
			g.refuse(w, r, e)
			return
		}
		if route.Auth == Token || route.Auth == Host {
			info, e := g.checkToken(route.Auth, client.UIOrigin, r)
			if e != nil {
				g.refuse(w, r, e)
				return
			}
			client.TokenInfo = info
			// Nothing goes on in the name of a token that is revoked meanwhile.
			ctx, end := bounded(r.Context(), info.valid, route.Until)
			defer end()
			r = r.WithContext(WithClient(ctx, client))
		} else if route.Until != nil {
			ctx, end := bounded(r.Context(), route.Until, nil)
			defer end()
			r = r.WithContext(ctx)
		}
		if g.c.StaticHeaders != nil && route.Auth == None && !isAPI(r.URL.Path) {
			g.c.StaticHeaders(w.Header(), r.URL.Path)
		}
		if e := g.admitBody(route, w, r); e != nil {
			g.refuse(w, r, e)
			return
		}
		route.Handler.ServeHTTP(w, r)
	})
}

// bounded is ctx, which ends with the others, too; nil is none.
func bounded(ctx, one, other context.Context) (context.Context, func()) {
	if one == nil && other == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stopOne, stopOther := func() bool { return true }, func() bool { return true }
	if one != nil {
		stopOne = context.AfterFunc(one, cancel)
	}
	if other != nil {
		stopOther = context.AfterFunc(other, cancel)
	}
	return ctx, func() {
		stopOne()
		stopOther()
		cancel()
	}
}

// unknown answers what no route covers.
func (g *guard) unknown(pattern string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(pattern) {
			if _, e := g.checkToken(Token, From(r).UIOrigin, r); e != nil {
				g.refuse(w, r, e)
				return
			}
		}
		g.refuse(w, r, &Error{Status: http.StatusNotFound, Code: "not_found",
			Message: "there is nothing at this address; docs/api.md lists the routes"})
	})
}

// checkToken takes exactly one Authorization header with a bearer token.
// A token in the query or a cookie is never looked at: those reach logs,
// history and every other port of 127.0.0.1.
func (g *guard) checkToken(class Auth, ui string, r *http.Request) (TokenInfo, *Error) {
	no := &Error{Status: http.StatusUnauthorized, Code: "unauthorized",
		Message: "the token is missing or no longer valid; run zeroclaw open, or reload the page from there"}
	if class == Host {
		no.Message = "the token is missing, revoked or expired; zeroclaw token new makes one for another program"
	}
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return TokenInfo{}, no
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > 512 {
		return TokenInfo{}, no
	}
	info, ok := g.c.Token(token)
	switch {
	case !ok:
		return TokenInfo{}, no
	case info.Kind == Named && class != Host:
		return TokenInfo{}, &Error{Status: http.StatusForbidden, Code: "token_scope",
			Message: "this is a token for other programs and opens only /mcp"}
	case info.Kind != Named && info.Kind != Page && info.Kind != CLI:
		return TokenInfo{}, no
	case info.Origin != "" && ui != info.Origin:
		return TokenInfo{}, &Error{Status: http.StatusForbidden, Code: "token_scope",
			Message: "this token was given to the page at " + info.Origin + " and works only from there"}
	case ui != "" && info.Origin != ui:
		return TokenInfo{}, &Error{Status: http.StatusForbidden, Code: "token_scope",
			Message: "this token belongs to the page on " + g.host + "; pair the page at " + ui + " for a token of its own"}
	case ui != "" && (g.c.UIConfirmed == nil || !g.c.UIConfirmed()):
		return TokenInfo{}, &Error{Status: http.StatusForbidden, Code: "origin_unconfirmed",
			Message: "allow " + ui + " first, on the page at http://" + g.host}
	}
	return info, nil
}

// recovered turns a panic of a handler into a 500 and a log entry without
// secrets. An answer already begun is broken off instead.
func (g *guard) recovered(a *answer, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	text := fmt.Sprint(v)
	for _, h := range r.Header["Authorization"] {
		if _, token, _ := strings.Cut(h, " "); token != "" {
			text = strings.ReplaceAll(text, token, "[token]")
		}
	}
	g.c.Log.Error("a handler panicked", "method", r.Method, "path", g.c.Redact(r.URL.Path),
		"panic", g.c.Redact(text), "stack", g.c.Redact(string(debug.Stack())))
	if a.wrote {
		panic(http.ErrAbortHandler)
	}
	g.refuse(a, r, &Error{Status: http.StatusInternalServerError, Code: "internal",
		Message: "something went wrong inside the companion; its log says more"})
}
