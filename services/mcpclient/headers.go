package mcpclient

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// maxSessionID bounds Mcp-Session-Id in bytes.
const maxSessionID = 4096

// reserved are headers that a definition cannot set, with the reason: they frame
// the message, are the protocol's own, or would make net/http send a request
// twice.
var reserved = map[string]string{
	"Content-Length": "it frames the message", "Transfer-Encoding": "it frames the message", "Content-Encoding": "it frames the message",
	"Connection": "it frames the message", "Keep-Alive": "it frames the message", "Te": "it frames the message", "Trailer": "it frames the message",
	"Upgrade": "it frames the message", "Expect": "it frames the message", "Proxy-Connection": "it frames the message",
	"Accept-Encoding": "answers come uncompressed", "Host": "it comes from the URL",
	"Idempotency-Key": "a call is never sent twice", "X-Idempotency-Key": "a call is never sent twice",
	"Mcp-Session-Id": "the protocol sets it", "Mcp-Protocol-Version": "the protocol sets it", "Mcp-Method": "the protocol sets it",
	"Mcp-Name": "the protocol sets it", "Last-Event-Id": "the protocol sets it",
}

// userHeaders checks the headers of a definition and returns them. The error
// names the header and never its value.
func userHeaders(given map[string]string) (http.Header, error) {
	out := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		shown := services.Shown(name, 100)
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, fmt.Errorf("the header %q has a name that no header may have", shown)
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		if why, ok := reserved[key]; ok || strings.HasPrefix(key, mcp.HeaderParamPrefix) {
			if !ok {
				why = "the protocol sets it"
			}
			return nil, fmt.Errorf("the header %s cannot be set: %s", shown, why)
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("the header %s is given twice, in different cases", shown)
		}
		if !httpguts.ValidHeaderFieldValue(given[name]) {
			return nil, fmt.Errorf("the value of the header %s holds a line break or another control character", shown)
		}
		out[key] = []string{given[name]}
	}
	return out, nil
}

// checkSessionID refuses a session id that may not be sent back.
func checkSessionID(id string) error {
	if len(id) > maxSessionID {
		return fmt.Errorf("the server's session id has %d bytes, at most %d are taken", len(id), maxSessionID)
	}
	for _, c := range []byte(id) {
		if c < 0x21 || c > 0x7e {
			return fmt.Errorf("the server's session id holds a byte (%#02x) that is no visible ASCII character", c)
		}
	}
	return nil
}

// messageHeaders are the headers that a request of the given revision carries
// beside its body; nil for a request before the revision is agreed on.
func messageHeaders(version, method string, params []byte, tool *mcp.Tool) http.Header {
	if version == "" {
		return nil
	}
	h := http.Header{}
	h.Set(mcp.HeaderProtocolVersion, version)
	if !mcp.IsModernProtocol(version) {
		return h
	}
	h.Set(mcp.HeaderMethod, method)
	if name, ok := mcp.ExtractHeaderName(mcp.MCPMethod(method), params); ok {
		if v, ok := mcp.EncodeHeaderValue(name); ok {
			h.Set(mcp.HeaderName, v)
		}
	}
	if tool != nil {
		for name, v := range mcp.GenerateParamHeaders(tool, params) {
			h.Set(name, v)
		}
	}
	return h
}
