package mcpclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"zeroclaw/services"
)

const (
	maxRedirects     = 10
	maxHeaderBytes   = 256 << 10 // of an answer
	dialTimeout      = 20 * time.Second
	tlsTimeout       = 15 * time.Second
	idleConnTimeout  = 90 * time.Second
	maxIdlePerServer = 8
)

// newHTTPClient builds the client of one connection to the server of spec. It
// reaches that one origin and nothing else, at an address that checkAddress
// allows, or through the proxy that the environment names.
func newHTTPClient(spec services.Spec, environ []string) (*http.Client, *url.URL, error) {
	u, err := url.Parse(spec.URL)
	if err != nil {
		// The error of url.Parse quotes the URL, which may hold a secret.
		return nil, nil, errors.New("its url cannot be read as a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, nil, errors.New("its url must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, nil, errors.New("its url names no host")
	case spec.CACertPath != "" && u.Scheme != "https":
		return nil, nil, errors.New("its url must be https because tls_ca_cert_path is set")
	}
	u.Fragment = ""
	var pool *x509.CertPool // nil = the system's
	if spec.CACertPath != "" {
		if pool, err = authorities(spec.CACertPath); err != nil {
			return nil, nil, fmt.Errorf("server %s: %w", spec.Name, err)
		}
	}
	host := u.Hostname()
	proxy, err := proxyFor(u, environ)
	if err != nil {
		return nil, nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyURL(proxy),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleConnTimeout,
		MaxIdleConnsPerHost:    maxIdlePerServer,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
			// With a proxy the address is that of the proxy, which the user
			// chose.
			if proxy == nil {
				d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
					ap, err := netip.ParseAddrPort(address)
					if err != nil {
						return &policyError{"its address cannot be checked: " + err.Error()}
					}
					if err := checkAddress(host, u.Scheme == "https", ap.Addr()); err != nil {
						return &policyError{err.Error()}
					}
					return nil
				}
			}
			return d.DialContext(ctx, network, address)
		},
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		return checkRedirect(u, r.URL, via[0].Method, r.Method, len(via))
	}}
	return client, u, nil
}

// checkRedirect decides before anything is sent. The addresses are shown
// without their queries.
func checkRedirect(from, to *url.URL, method, next string, count int) error {
	switch {
	case count > maxRedirects:
		return &policyError{fmt.Sprintf("it redirects more than %d times", maxRedirects)}
	case !sameOrigin(from, to) || to.User != nil:
		return &policyError{fmt.Sprintf("it redirects to %s: only the scheme, host and port of its url (%s) are followed", shownOrigin(to), shownOrigin(from))}
	case method != next:
		return &policyError{fmt.Sprintf("it redirects to %s in a way that drops the message: write that address into the url", services.Shown(to.Scheme+"://"+to.Host+to.EscapedPath(), 200))}
	}
	return nil
}

// policyError is a refusal of ours: no try will change it.
type policyError struct{ message string }

func (e *policyError) Error() string { return e.message }

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(hostPort(a), hostPort(b))
}

func shownOrigin(u *url.URL) string {
	return services.Shown(u.Scheme+"://"+u.Host, 200)
}

// hostPort is the host and the port of u, also where the port is implied.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// proxyFor is the proxy that the usual variables of environ name for u, nil =
// none. This machine is never reached through one.
func proxyFor(u *url.URL, environ []string) (*url.URL, error) {
	if loopbackName(u.Hostname()) {
		return nil, nil
	}
	get := func(names ...string) string {
		for _, name := range names {
			for _, e := range environ {
				if k, v, ok := strings.Cut(e, "="); ok && k == name && v != "" {
					return v
				}
			}
		}
		return ""
	}
	c := httpproxy.Config{HTTPProxy: get("HTTP_PROXY", "http_proxy"), HTTPSProxy: get("HTTPS_PROXY", "https_proxy"), NoProxy: get("NO_PROXY", "no_proxy")}
	proxy, err := c.ProxyFunc()(u)
	if err != nil {
		// The error quotes the proxy's address, with its password.
		return nil, errors.New("HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy")
	}
	return proxy, nil
}

// reason strips what an error of the standard library repeats: the URL with its
// query, the path.
func reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return reason(u.Err)
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
