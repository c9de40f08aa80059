package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// endpointURL decides where messages may go: to the origin that the stream came
// from and nowhere else.
func endpointURL(base *url.URL, given string) (*url.URL, error) {
	given = strings.TrimSpace(given)
	var wrapped struct{ Endpoint string }
	if strings.HasPrefix(given, "{") && json.Unmarshal([]byte(given), &wrapped) == nil {
		given = wrapped.Endpoint
	}
	if given == "" {
		return nil, errors.New("the server names an empty endpoint")
	}
	// What browsers and net/url read differently is not read at all.
	if strings.ContainsFunc(given, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f }) {
		return nil, errors.New("the server names an endpoint with a character that no URL holds")
	}
	ref, err := url.Parse(given)
	if err != nil {
		return nil, errors.New("the server names an endpoint that is no URL")
	}
	u := base.ResolveReference(ref)
	switch {
	case ref.User != nil:
		return nil, errors.New("the server names an endpoint with a user name in it")
	case u.Opaque != "" || !sameOrigin(base, u):
		return nil, fmt.Errorf("the server names the endpoint %s: only the scheme, host and port of its url (%s) are used", shownOrigin(u), shownOrigin(base))
	}
	u.User, u.Fragment = base.User, ""
	return u, nil
}
