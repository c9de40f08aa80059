package mcpclient

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// wireError says why an exchange over HTTP failed. Its text stands by itself.
type wireError struct {
	message string
	status  int  // of the answer, 0 = there was none
	again   bool // a later try may succeed
}

func (e *wireError) Error() string     { return e.message }
func (e *wireError) Restartable() bool { return e.again }

// sessionLost says that the server no longer knows the session. A new one is
// begun at once.
type sessionLost struct{ how string }

func (e *sessionLost) Error() string {
	return "the server lost the session (" + e.how + "): " + unknownOutcome
}
func (e *sessionLost) Restartable() bool { return true }

// unknownOutcome is said of a call that was written and has no answer.
const unknownOutcome = "outcome unknown, not replayed (whether the call had an effect is not known; it was not sent again)"

// failed turns an error of net/http into a sentence without URLs.
func (w *link) failed(err error, wrote bool) error {
	var policy *policyError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var dns *net.DNSError
	inner := services.Shown(reason(err).Error(), 500)
	switch {
	case errors.As(err, &policy):
		return &wireError{message: "refused: " + policy.message}
	case errors.As(err, &cert):
		return &wireError{message: fmt.Sprintf("the certificate of %s is not trusted: %s", w.url.Host, reason(cert.Err))}
	case errors.As(err, &record), strings.Contains(inner, "server gave HTTP response to HTTPS client"):
		return &wireError{message: fmt.Sprintf("%s does not speak TLS: is the url http instead of https?", w.url.Host)}
	case errors.As(err, &dns):
		return &wireError{message: fmt.Sprintf("the name %s cannot be resolved: %s", w.url.Hostname(), services.Visible(dns.Err)), again: true}
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") && !wrote:
		return &wireError{message: fmt.Sprintf("cannot connect to %s: %s", w.url.Host, inner), again: true}
	case strings.Contains(inner, "malformed MIME header"), strings.Contains(inner, "server response headers exceeded"):
		return &wireError{message: "the headers of the server's answer cannot be used: " + inner}
	case !wrote:
		return &wireError{message: fmt.Sprintf("talking to %s failed before anything was sent: %s", w.url.Host, inner), again: true}
	}
	return &wireError{message: fmt.Sprintf("the connection to %s broke before the answer came (%s): %s", w.url.Host, inner, unknownOutcome), again: true}
}

// refusal reads the answer to a request that did not succeed. details is the
// JSON-RPC error in it, if it holds one.
func (w *link) refusal(resp *http.Response) (details *mcp.JSONRPCErrorDetails, err *wireError) {
	defer resp.Body.Close()
	var body []byte
	if resp.ContentLength != 0 {
		body, _ = io.ReadAll(io.LimitReader(resp.Body, min(maxErrorBody, w.limit)))
	}
	kind := mediaType(resp)
	if parts, perr := messages(body); perr == nil && len(parts) == 1 {
		if m, ok := scanMessage(parts[0]); ok && m.err != nil {
			details = rpcDetails(m.err)
		}
	}
	said := ""
	switch {
	case details != nil:
		said = ": " + services.Shown(details.Message, 500)
	case isPage(kind, body):
		said = ", with a web page instead of an MCP message"
	case len(bytes.TrimSpace(body)) > 0:
		said = ": " + services.Shown(string(bytes.TrimSpace(body)), 500)
	}
	return details, &wireError{message: statusText(resp) + services.Clip(said, maxErrorShown), status: resp.StatusCode,
		again: resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout}
}

// statusText is the sentence about a status.
func statusText(resp *http.Response) string {
	code := fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return "the server asks for a login (" + code + "): give it a header such as Authorization, or check the one it has"
	case http.StatusForbidden:
		return "the server forbids it (" + code + ")"
	case http.StatusNotFound, http.StatusGone:
		return "the server has nothing at its url (" + code + ")"
	case http.StatusMethodNotAllowed:
		return "the server does not take this kind of request at its url (" + code + "): is its transport the right one?"
	case http.StatusProxyAuthRequired:
		return "the proxy asks for a login (" + code + ")"
	case http.StatusTooManyRequests:
		wait := resp.Header.Get("Retry-After")
		if wait == "" || len(wait) > 40 {
			return "the server takes no more requests for now (" + code + ")"
		}
		return "the server takes no more requests for now (" + code + ", Retry-After: " + services.Visible(wait) + ")"
	}
	if resp.StatusCode >= 500 {
		return "the server failed (" + code + ")"
	}
	return "the server refused the request (" + code + ")"
}

// isPage reports whether an answer is meant for a browser.
func isPage(kind string, body []byte) bool {
	start := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return kind == "text/html" || kind == "application/xhtml+xml" || bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// wrongType says what came in place of a message.
func wrongType(resp *http.Response) *wireError {
	kind := mediaType(resp)
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return &wireError{message: "the server answered with a web page (text/html) instead of an MCP message: is its url right?", status: resp.StatusCode}
	case kind == "":
		return &wireError{message: fmt.Sprintf("the server answered %d without a content type and without an MCP message", resp.StatusCode), status: resp.StatusCode}
	}
	return &wireError{message: fmt.Sprintf("the server answered with %s instead of %s or %s", services.Shown(kind, 80), typeJSON, typeSSE), status: resp.StatusCode}
}

// forgotten reports whether a refusal means that the session is not known any
// more. The revision says 404; servers that copy the reference examples answer
// 400 with a message about the session.
func forgotten(status int, details *mcp.JSONRPCErrorDetails) bool {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest:
		return details != nil && strings.Contains(strings.ToLower(details.Message), "session")
	}
	return false
}
