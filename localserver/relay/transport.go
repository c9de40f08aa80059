package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// farError refuses a plain http connection to a public address.
type farError struct{ addr string }

func (e *farError) Error() string { return "plain http to the public address " + e.addr }

func transport() *http.Transport {
	return &http.Transport{
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   15 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       time.Minute,
		ExpectContinueTimeout: time.Second,
		// Compressed streams would arrive in lumps.
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// secureTransport is for https; it goes through a proxy when the environment
// names one.
func secureTransport(d dialing) *http.Transport {
	t := transport()
	t.Proxy = http.ProxyFromEnvironment
	t.DialContext = dial(d.notSelf)
	return t
}

// plainTransport is for http.
func plainTransport(d dialing) *http.Transport {
	t := transport()
	t.DialContext = dial(d.plain)
	return t
}

// dial connects to addresses that pass a check. The dialer resolves names
// itself, so the check sees the real address, whatever DNS said before.
func dial(check func(to netip.AddrPort) error) func(context.Context, string, string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second, Control: control(check)}).DialContext
}

func control(check func(to netip.AddrPort) error) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return &farError{address}
		}
		return check(to)
	}
}

// dialing judges the addresses that are connected to.
type dialing struct {
	ownPort func() int // nil: unknown
}

// errSelf refuses the companion as its own model server: each request would
// come back as another one, without end.
var errSelf = errors.New("this is the companion itself")

func (d dialing) notSelf(to netip.AddrPort) error {
	a := to.Addr().Unmap()
	if d.ownPort != nil && int(to.Port()) == d.ownPort() && (a.IsLoopback() || a.IsUnspecified()) {
		return errSelf
	}
	return nil
}

func (d dialing) plain(to netip.AddrPort) error {
	if !near(to.Addr()) {
		return &farError{to.String()}
	}
	return d.notSelf(to)
}
