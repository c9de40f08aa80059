package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"zeroclaw/localserver"
)

// How long the companion may take for what it answers at once. Requests have no
// limit: a call may wait for a person.
const (
	promptTime = 10 * time.Second
	beginTime  = time.Minute            // to begin a session: a server behind it may have to start
	closeStart = time.Second            // to end a session when the bridge ends
	drainTime  = 100 * time.Millisecond // to end a stream whose response has come
)

// target is one session with one running companion. It never changes.
type target struct {
	localserver.Instance
	client  *http.Client
	url     string
	session string        // Mcp-Session-Id, "" without one
	version string        // what initialize agreed on, "" before
	gone    chan struct{} // closed when another target took its place
}

// newTarget is a companion without a session. path is that of its MCP endpoint,
// with the query.
func newTarget(i localserver.Instance, path string) *target {
	dialer := net.Dialer{Timeout: promptTime}
	return &target{
		Instance: i, url: fmt.Sprintf("http://127.0.0.1:%d%s", i.Port, path), gone: make(chan struct{}),
		client: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			// A proxy of the environment must not see loopback traffic.
			Transport: &http.Transport{
				MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true,
				// The port may belong to another program since the last connection.
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := dialer.DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					// Not with ctx itself: its trace would take the proof for the message.
					bare, cancel := context.WithCancel(context.Background())
					defer cancel()
					defer context.AfterFunc(ctx, cancel)()
					if err := i.Prove(bare); err != nil {
						c.Close()
						return nil, err
					}
					return c, nil
				},
			},
		},
	}
}

// with is the same companion in another session.
func (t *target) with(session, version string) *target {
	return &target{Instance: t.Instance, client: t.client, url: t.url, session: session, version: version, gone: make(chan struct{})}
}

// lost says that a message did not get through, or its answer did not.
type lost struct {
	err     error
	reached bool // the companion may have received and acted on it
	session bool // the companion is there, but knows the session or the token no more
}

func (l lost) Error() string { return l.err.Error() }
func (l lost) Unwrap() error { return l.err }

func (t *target) request(ctx context.Context, method string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, t.url, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+t.Token)
	return r, nil
}

// inSession says which session a request belongs to.
func (t *target) inSession(r *http.Request) {
	if t.session != "" {
		r.Header.Set("Mcp-Session-Id", t.session)
	}
	if t.version != "" {
		r.Header.Set("MCP-Protocol-Version", t.version)
	}
}

// open posts a message. sent is called when it was written, or never will be.
// The caller closes the body of the answer, which is a good one.
func (t *target) open(ctx context.Context, m message, sent func()) (*http.Response, error) {
	defer sent()
	r, err := t.request(ctx, http.MethodPost, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	switch {
	case m.version != "":
		r.Header.Set("MCP-Protocol-Version", m.version)
		r.Header.Set("Mcp-Method", headerValue(m.method))
		if m.name != "" {
			r.Header.Set("Mcp-Name", headerValue(m.name))
		}
	case m.method != "initialize":
		t.inSession(r)
	}
	var wrote atomic.Bool
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { wrote.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { sent() },
	}))
	answer, err := t.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, lost{err: reason(err), reached: wrote.Load()}
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, t.refusal(answer, m, r.Header.Get("Mcp-Session-Id") != "")
}

// reason is an error without the address that was asked: there is but one.
func reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal is the error of an answer that refuses a message.
func (t *target) refusal(answer *http.Response, m message, inSession bool) error {
	// What cannot be read is told by the status alone.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	var said struct {
		JSONRPC string          `json:"jsonrpc"`
		Error   json.RawMessage `json:"error"`
	}
	var e struct {
		rpcError
		Code json.RawMessage `json:"code"`
	}
	if json.Unmarshal(body, &said) == nil {
		_ = json.Unmarshal(said.Error, &e)
	}
	code := jsonText(e.Code)
	why := fmt.Errorf("the companion answered %s", answer.Status)
	if e.Message != "" {
		why = errors.New(e.Message)
	}
	switch {
	case answer.StatusCode == http.StatusUnauthorized, answer.StatusCode == http.StatusNotFound && inSession:
		return lost{err: why, session: true}
	case answer.StatusCode == http.StatusServiceUnavailable && code == "ending":
		return lost{err: why}
	case said.JSONRPC != "" && e.Message != "" && json.Unmarshal(e.Code, &e.rpcError.Code) == nil:
		return &e.rpcError
	case code != "":
		return &rpcError{Code: codeServer, Message: "zeroclaw: " + e.Message, Data: json.RawMessage(`{"code":` + string(e.Code) + `}`)}
	}
	return why
}

// end tells the companion that the session is over.
func (t *target) end(ctx context.Context) {
	if t.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeStart)
	defer cancel()
	r, err := t.request(ctx, http.MethodDelete, nil)
	if err != nil {
		return
	}
	t.inSession(r)
	// A session that cannot be ended ends with the companion, or when it is idle.
	if answer, err := t.client.Do(r); err == nil {
		answer.Body.Close()
	}
}

// pause waits unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
