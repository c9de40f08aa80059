package relay

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// The kinds of provider: what protocol its endpoint speaks.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// anthropicVersion is sent when the page names none.
const anthropicVersion = "2023-06-01"

// Provider is one profile of model endpoint. Key is in clear text and may be
// empty (local servers). BaseURL is what the person typed: for OpenAI the part
// before /chat/completions (without a path, /v1 is meant), for Anthropic with
// or without its /v1.
type Provider struct {
	Name    string
	Kind    string
	BaseURL string
	Key     string
}

// base reads BaseURL. The message of its error is for the person who typed it.
func (p Provider) base() (*url.URL, error) {
	if p.Kind != OpenAI && p.Kind != Anthropic {
		return nil, fmt.Errorf("provider %q has kind %q; it must be %q or %q", p.Name, p.Kind, OpenAI, Anthropic)
	}
	u, err := url.Parse(strings.TrimSpace(p.BaseURL))
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return nil, fmt.Errorf("base_url of provider %q is not an address such as https://api.example/v1", p.Name)
	}
	if u.User != nil {
		return nil, fmt.Errorf("base_url of provider %q has a user name or password in it; put the key into api_key", p.Name)
	}
	switch u.Scheme {
	case "https":
	case "http":
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !near(a) {
			return nil, fmt.Errorf("base_url of provider %q would send key and chat unencrypted to %s; use https", p.Name, u.Host)
		}
	default:
		return nil, fmt.Errorf("base_url of provider %q begins with %q; use https, or http for a server on this machine or your own network", p.Name, u.Scheme+":")
	}
	if strings.ContainsAny(u.Path, "\\\x00\r\n") || strings.Contains("/"+u.Path+"/", "/../") {
		return nil, fmt.Errorf("base_url of provider %q has a path that cannot be used", p.Name)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if p.Kind == Anthropic && !strings.HasSuffix(u.Path, "/v1") || p.Kind == OpenAI && u.Path == "" {
		u.Path += "/v1"
	}
	u.RawPath, u.Fragment, u.RawFragment = "", "", ""
	return u, nil
}

// near reports whether plain http to a is acceptable: this machine, a private
// network (RFC 1918, RFC 4193) or shared address space (RFC 6598, used by
// overlay networks). Link-local is not: cloud metadata services live there.
func near(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || shared.Contains(a)
}

var shared = netip.MustParsePrefix("100.64.0.0/10")

// endpoint is what an SDK asks for below the profile.
type endpoint struct {
	kind, method string
	path         *regexp.Regexp
}

// Model ids may hold slashes ("meta-llama/Llama-3"), response ids may not.
var endpoints = []endpoint{
	{OpenAI, "POST", regexp.MustCompile(`^chat/completions$`)},
	{OpenAI, "POST", regexp.MustCompile(`^responses$`)},
	{OpenAI, "GET", regexp.MustCompile(`^responses/[A-Za-z0-9_-]+$`)},
	{OpenAI, "POST", regexp.MustCompile(`^responses/[A-Za-z0-9_-]+/cancel$`)},
	{OpenAI, "POST", regexp.MustCompile(`^embeddings$`)},
	{OpenAI, "GET", regexp.MustCompile(`^models(/[A-Za-z0-9_:@~+-][A-Za-z0-9._:@~+-]*)*$`)},
	{Anthropic, "POST", regexp.MustCompile(`^messages(/count_tokens)?$`)},
	{Anthropic, "GET", regexp.MustCompile(`^models(/[A-Za-z0-9_:@~+-][A-Za-z0-9._:@~+-]*)?$`)},
}

// target decides where a request goes. rest is the decoded path below the
// profile.
func target(p Provider, method, rest, query string) (*url.URL, *failure) {
	base, err := p.base()
	if err != nil {
		return nil, &failure{http.StatusBadGateway, "provider_misconfigured", err.Error() + " (Settings, Providers)"}
	}
	rest = strings.TrimPrefix(rest, "v1/")
	known := false
	for _, e := range endpoints {
		if e.kind != p.Kind || !e.path.MatchString(rest) {
			continue
		}
		known = true
		if e.method == method {
			u := *base
			u.Path += "/" + rest
			if query != "" {
				if u.RawQuery != "" {
					u.RawQuery += "&"
				}
				u.RawQuery += query
			}
			return &u, nil
		}
	}
	if known {
		return nil, &failure{http.StatusMethodNotAllowed, "wrong_method", "this address of the provider does not take " + method}
	}
	return nil, &failure{http.StatusNotFound, "unknown_path",
		fmt.Sprintf("the relay does not pass %q to an %s provider; it passes only what chats need", rest, p.Kind)}
}

// passedUp are the request headers that reach the provider; everything else,
// above all the page's own Authorization, Cookie, Origin and Referer, stays.
var passedUp = []string{"Accept", "Content-Type", "Idempotency-Key", "OpenAI-Organization", "OpenAI-Project", "OpenAI-Beta",
	"Anthropic-Version", "Anthropic-Beta", "Anthropic-Workspace-Id", "Anthropic-User-Profile-Id",
	"X-Stainless-Arch", "X-Stainless-Helper", "X-Stainless-Helper-Method", "X-Stainless-Lang", "X-Stainless-OS",
	"X-Stainless-Package-Version", "X-Stainless-Retry-Count", "X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout"}

// passedDown are the answer headers that reach the page; those ending in * are
// prefixes. Cookies, CORS, CSP and redirects of the provider stay outside.
var passedDown = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry", "X-Request-Id", "Request-Id",
	"Openai-Processing-Ms", "Openai-Poll-After-Ms", "Anthropic-Workspace-Id", "X-Ratelimit-*", "Anthropic-Ratelimit-*"}

func headersUp(p Provider, in http.Header) http.Header {
	out := http.Header{"User-Agent": {"zeroclaw"}}
	for _, name := range passedUp {
		if v := in.Values(name); len(v) > 0 {
			out[http.CanonicalHeaderKey(name)] = v
		}
	}
	switch {
	case p.Kind == Anthropic:
		if out.Get("Anthropic-Version") == "" {
			out.Set("Anthropic-Version", anthropicVersion)
		}
		if p.Key != "" {
			out.Set("X-Api-Key", p.Key)
		}
	case p.Key != "":
		out.Set("Authorization", "Bearer "+p.Key)
	}
	return out
}

func headersDown(from, to http.Header) {
	for name, values := range from {
		for _, pass := range passedDown {
			prefix, wild := strings.CutSuffix(pass, "*")
			if name == pass || wild && strings.HasPrefix(name, prefix) {
				to[name] = values
			}
		}
	}
	// The answer is served from our own origin: nothing in it is a page.
	kind, _, _ := strings.Cut(from.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/json", "text/event-stream", "application/x-ndjson", "application/problem+json":
	default:
		to.Set("Content-Type", "text/plain; charset=utf-8")
	}
}
