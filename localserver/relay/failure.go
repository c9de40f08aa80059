package relay

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

// failure is an answer of the relay itself, in the API's error shape.
type failure struct {
	status        int
	code, message string
}

var tooLarge = &failure{http.StatusRequestEntityTooLarge, "too_large",
	fmt.Sprintf("the request to the model is larger than %d MiB; send fewer or smaller attachments", MaxRequest>>20)}

// json has "type" besides the API's keys because Anthropic's SDK looks there.
func (f *failure) json() []byte {
	text, _ := json.Marshal(map[string]any{"error": map[string]string{"code": f.code, "type": f.code, "message": f.message}})
	return text
}

func (f *failure) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	// Both SDKs would repeat a 5xx; none of ours goes away by that.
	h.Set("X-Should-Retry", "false")
	w.WriteHeader(f.status)
	w.Write(append(f.json(), '\n'))
}

// redirected is a redirect that is not followed.
type redirected struct{ to string }

func (r *redirected) Error() string { return "redirected to " + r.to }

// explain turns what went wrong on the way to u into a sentence that says what
// to do. cause is why the request was given up, if it was.
func explain(err, cause error, u *url.URL) *failure {
	at := u.Scheme + "://" + u.Host
	var big *http.MaxBytesError
	var red *redirected
	var dns *net.DNSError
	var refused *farError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	bad := func(code, format string, args ...any) *failure {
		return &failure{http.StatusBadGateway, code, fmt.Sprintf(format, args...)}
	}
	switch {
	case errors.As(err, &big):
		return tooLarge
	case errors.Is(cause, errSilent):
		return &failure{http.StatusGatewayTimeout, "provider_timeout", "the model server at " + at + " did not begin to answer in time; it may be loading the model: try again"}
	case errors.Is(cause, errPaused):
		return &failure{http.StatusGatewayTimeout, "provider_paused", "the answer from " + at + " stopped coming; try again"}
	case errors.As(err, &red) && red.to != "":
		return bad("provider_redirect", "the model server at %s redirects to %s; if you trust that address, set it as the provider's base_url", at, red.to)
	case errors.As(err, &red) || errors.Is(err, errTooMany):
		return bad("provider_redirect", "the model server at %s redirects without end; check the provider's base_url", at)
	case errors.Is(err, errSelf):
		return bad("provider_is_companion", "%s is the companion itself, not a model server; set the provider's base_url to the server that runs the model", at)
	case errors.As(err, &refused):
		return bad("provider_unencrypted", "%s is at the public address %s, and plain http would send key and chat unencrypted; use https in the provider's base_url", at, refused.addr)
	case errors.Is(err, syscall.ECONNREFUSED):
		return bad("provider_unreachable", "no model server answers at %s; is it started?", at)
	case errors.As(err, &dns):
		return bad("provider_dns", "the name %s could not be found; check the provider's base_url and your network", u.Hostname())
	case errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &cert):
		return bad("provider_tls", "the certificate of %s cannot be trusted (%s); check the address, or the proxy or virus scanner in between", at, lastPart(err))
	case errors.As(err, &record) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return bad("provider_tls", "%s answers without encryption; if it is on this machine or your own network, write http:// in the provider's base_url", at)
	case errors.As(err, &alert):
		return bad("provider_tls", "no encrypted connection to %s could be made (%s)", at, lastPart(err))
	case errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH):
		return bad("provider_unreachable", "there is no network path to %s; are you online?", at)
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return &failure{http.StatusGatewayTimeout, "provider_timeout", "the model server at " + at + " did not answer in time; check that it runs and that nothing blocks the way"}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET):
		return bad("provider_broke_off", "the model server at %s broke off its answer; try again, and look at its log", at)
	}
	return bad("provider_failed", "the request to %s failed: %s", at, lastPart(err))
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// lastPart is the innermost text of an error, which is the part a person can
// use, without the addresses that wrap it.
func lastPart(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

func quote(s string) string { return strconv.Quote(s) }
