package guard

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// preflightAge is for how many seconds a browser may remember a preflight.
const preflightAge = 600

// plainTarget refuses request targets that are not a plain absolute path:
// absolute-form and authority-form (a proxy's language), "*", and paths with
// dot segments, empty segments, NUL or backslash, encoded or not. What a
// handler sees is what was asked for; no redirect, no cleaning.
func plainTarget(r *http.Request) *Error {
	p := r.URL.Path
	bad := r.URL.Scheme != "" || r.URL.Host != "" || r.URL.Opaque != "" || !strings.HasPrefix(p, "/") ||
		strings.ContainsAny(p, "\x00\\")
	if !bad {
		clean := path.Clean(p)
		if strings.HasSuffix(p, "/") && clean != "/" {
			clean += "/"
		}
		bad = clean != p
	}
	if !bad {
		return nil
	}
	return &Error{Status: http.StatusBadRequest, Code: "bad_path",
		Message: "the address is not a plain path of this server; send an absolute path without dot segments"}
}

// checkHost accepts the two names of this server with its port, nothing else:
// with DNS rebinding the name is all that tells an attacker's page from ours.
func (g *guard) checkHost(r *http.Request) *Error {
	if r.Host == g.host || r.Host == g.localhost {
		return nil
	}
	return &Error{Status: http.StatusMisdirectedRequest, Code: "wrong_host",
		Message: "this server answers only to http://" + g.host + "; open that address"}
}

// isNavigation reports whether a browser is opening an address, as opposed to
// a page fetching it. Browsers without Sec-Fetch are told by what they accept.
func isNavigation(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// checkOrigin returns the UI origin when the request comes from there, ""
// when it comes from our own page or from no page at all. Own is the origin of
// the very Host that was asked: "localhost" may be another program on [::1].
func (g *guard) checkOrigin(r *http.Request) (ui string, e *Error) {
	origins := r.Header["Origin"]
	switch {
	case len(origins) == 0:
	case len(origins) == 1 && origins[0] == "http://"+r.Host:
		return "", nil
	case len(origins) == 1 && g.c.UIOrigin != "" && origins[0] == g.c.UIOrigin:
		return g.c.UIOrigin, nil
	default:
		return "", &Error{Status: http.StatusForbidden, Code: "wrong_origin",
			Message: "pages of this origin may not talk to the companion; open http://" + g.host +
				", or start it with --ui and the exact origin of your page"}
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "cross-site" {
			continue
		}
		entry := r.URL.Path == "/" || r.URL.Path == "/oauth/callback"
		if entry && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
			continue
		}
		return "", &Error{Status: http.StatusForbidden, Code: "cross_site",
			Message: "another site may not load this address; open http://" + g.host}
	}
	return "", nil
}

// allowOrigin sets the CORS headers of an answer to the UI origin. There is
// never a wildcard and never a credential.
func (g *guard) allowOrigin(h http.Header, ui string) {
	if g.c.UIOrigin == "" {
		return
	}
	h.Add("Vary", "Origin")
	if ui != "" {
		h.Set("Access-Control-Allow-Origin", ui)
		h.Set("Access-Control-Expose-Headers", exposed)
	}
}

// preflight answers the question of a browser whether the UI origin may send
// what it wants to send. Only the configured origin gets here.
func (g *guard) preflight(w http.ResponseWriter, r *http.Request, allowed []string) {
	headers := apiHeaders
	if isLLM(r.URL.Path) {
		headers = append(headers[:len(headers):len(headers)], llmHeaders...)
	}
	h := w.Header()
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
	h.Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
	h.Set("Access-Control-Max-Age", strconv.Itoa(preflightAge))
	w.WriteHeader(http.StatusNoContent)
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
