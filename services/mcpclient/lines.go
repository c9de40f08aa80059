package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// lines is what is sent to a process and what it sends besides answers. The
// requests of the session do not go through it, see session.post.
type lines struct {
	inbound
	ready chan struct{} // closed once out is set
	out   *outbox
}

func newLines(log func(text string)) *lines {
	return &lines{inbound: newInbound(log), ready: make(chan struct{})}
}

// open begins to send.
func (t *lines) open(out *outbox) {
	t.out = out
	close(t.ready)
}

// other takes a request or a notification from the filter; life ends with the
// connection.
func (t *lines) other(life context.Context, m message, raw []byte) {
	t.deliver(life, m, raw, t.write)
}

// write sends one message.
func (t *lines) write(ctx context.Context, body []byte) error {
	select {
	case <-t.ready:
		return t.out.send(append(body, '\n'), false)
	case <-ctx.Done(): // it never came to run
		return ctx.Err()
	}
}

// Start implements transport.Interface: there is nothing to start.
func (t *lines) Start(context.Context) error { return nil }

// SendRequest implements transport.Interface. The session does not use it.
func (t *lines) SendRequest(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return nil, transport.ErrTransportClosed
}

// SendNotification implements transport.Interface.
func (t *lines) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return t.write(ctx, body)
}

// GetSessionId implements transport.Interface.
func (t *lines) GetSessionId() string { return "" }

// Close implements transport.Interface.
func (t *lines) Close() error {
	t.stop()
	t.work.Wait()
	return nil
}

// requestLine is a request as one line. The parameters that are JSON already are
// not decoded.
func requestLine(id int64, method string, params map[string]any) ([]byte, error) {
	out := make([]byte, 0, 256)
	out = append(out, `{"jsonrpc":"2.0","id":`...)
	out = strconv.AppendInt(out, id, 10)
	out = append(append(append(out, `,"method":"`...), method...), '"')
	if params != nil {
		var err error
		if out, err = appendObject(append(out, `,"params":`...), params); err != nil {
			return nil, err
		}
	}
	return append(out, '}', '\n'), nil
}

func appendObject(out []byte, fields map[string]any) ([]byte, error) {
	var err error
	out = append(out, '{')
	for i, key := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendValue(out, key); err != nil {
			return nil, err
		}
		if out, err = appendValue(append(out, ':'), fields[key]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendValue(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		if plainText(v) {
			return append(append(append(out, '"'), v...), '"'), nil
		}
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case map[string]any:
		return appendObject(out, v)
	case json.RawMessage:
		// A line end between its tokens would end the message.
		if json.Valid(v) && !bytes.ContainsAny(v, "\r\n") {
			return append(out, v...), nil
		}
	}
	text, err := json.Marshal(v)
	return append(out, text...), err
}

// plainText reports whether a text is written in JSON as it is.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
