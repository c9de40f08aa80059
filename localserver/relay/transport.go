package relay

import (
	"crypto/tls"
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
func secureTransport() *http.Transport {
	t := transport()
	t.Proxy = http.ProxyFromEnvironment
	t.DialContext = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return t
}

// plainTransport is for http. A name is resolved by the dialer, so the check
// sees the address that is connected to, whatever DNS said before.
func plainTransport() *http.Transport {
	t := transport()
	t.DialContext = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second, Control: plainControl}).DialContext
	return t
}

func plainControl(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !near(a.Addr()) {
		return &farError{address}
	}
	return nil
}
