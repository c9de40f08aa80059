package services

import (
	"encoding/base64"
	"net/url"
	"strings"
	"sync/atomic"

	"zeroclaw/services/secrets"
)

// secretsOf are the values in a definition that no log, status or error may
// show: headers, environment, and the user and the query of the URL. A service's own
// environment is part of its folder and no secret.
func secretsOf(s Spec) (values []string) {
	for _, v := range s.Headers {
		values = append(values, v)
		if _, token, ok := strings.Cut(v, " "); ok { // such as "Bearer …"
			values = append(values, token)
		}
	}
	if s.Origin != OriginService {
		for _, kv := range s.Env {
			_, v, _ := strings.Cut(kv, "=")
			values = append(values, v)
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		values = append(values, u.RawQuery)
		for _, list := range u.Query() {
			values = append(values, list...)
		}
		if u.User != nil {
			// The name may be a token; both go out as one base64 text.
			name := u.User.Username()
			password, _ := u.User.Password()
			values = append(values, name, password, base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
		}
	}
	return values
}

// concealer removes the secrets of one server from texts. It may be used under
// any lock.
type concealer struct {
	all func(string) string              // of everything
	own atomic.Pointer[secrets.Redactor] // nil: it has none
}

// learn adds the secrets of a definition. Those of the one before stay: what
// runs may still know them.
func (c *concealer) learn(s Spec) {
	values := secretsOf(s)
	if len(values) == 0 {
		return
	}
	c.own.CompareAndSwap(nil, secrets.NewRedactor())
	c.own.Load().Add(values...)
}

func (c *concealer) redact(text string) string {
	if own := c.own.Load(); own != nil {
		text = own.Redact(text)
	}
	return c.all(text)
}

// shown is a text of the server on one line, without secrets, of at most n
// bytes before the note that it was cut.
func (c *concealer) shown(text string, n int) string { return Shown(c.redact(text), n) }

// clean removes secrets from what an error says.
func (c *concealer) clean(err error) error {
	text := err.Error()
	if shown := c.redact(text); shown != text {
		return &cleaned{shown, err}
	}
	return err
}

// publicURL is a URL without user, query and fragment; "" where it is none.
func publicURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// cleaned is an error whose text held a secret.
type cleaned struct {
	text string
	err  error
}

func (e *cleaned) Error() string { return e.text }
func (e *cleaned) Unwrap() error { return e.err }
