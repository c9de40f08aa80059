package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// MaxRequest is the largest request body that is passed on, in bytes.
const MaxRequest = 32 << 20

// maxErrorBody is how much of a provider's error answer is passed on.
const maxErrorBody = 1 << 20

// Config of a Relay. Providers is required.
type Config struct {
	// Providers looks up a profile by name, with its key in clear text. It is
	// asked for each request, so changes hold at once.
	Providers func(name string) (Provider, bool)
	// Transport makes the requests; nil is one that checks addresses (see the
	// package comment). It is for tests.
	Transport http.RoundTripper
	// FirstByte is how long a provider may think before its answer begins;
	// 0 is 10 minutes: a local model reads a long prompt slowly.
	FirstByte time.Duration
	// Idle is how long an answer may pause; 0 is 3 minutes. There is no limit
	// on the whole.
	Idle time.Duration
	// Stuck is how long the page may take to read a piece; 0 is 1 minute.
	Stuck time.Duration
	// OwnPort is the port that the companion listens on: no provider can be
	// there, on any loopback address. nil: not known.
	OwnPort func() int
	// Redact removes secrets from a provider's error text on top of the
	// profile's own key; nil leaves it as it is.
	Redact func(string) string
}

// Relay is the handler of everything below /llm/PROFILE/. It is safe for
// concurrent use.
type Relay struct {
	c         Config
	transport func(scheme string) http.RoundTripper
}

// New returns a Relay.
func New(c Config) *Relay {
	or := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	or(&c.FirstByte, 10*time.Minute)
	or(&c.Idle, 3*time.Minute)
	or(&c.Stuck, time.Minute)
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	r := &Relay{c: c, transport: func(string) http.RoundTripper { return c.Transport }}
	if c.Transport == nil {
		d := dialing{c.OwnPort}
		plain, secure := plainTransport(d), secureTransport(d)
		r.transport = func(scheme string) http.RoundTripper {
			if scheme == "http" {
				return plain
			}
			return secure
		}
	}
	return r
}

var (
	errSilent  = errors.New("the model server did not answer in time")
	errPaused  = errors.New("the answer of the model server stopped coming")
	errTooMany = errors.New("too many redirects")
)

// ServeHTTP passes one request on.
func (l *Relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/llm/"), "/")
	p, ok := l.c.Providers(name)
	if !ok {
		(&failure{http.StatusNotFound, "unknown_provider", "there is no provider called " + quote(name) + "; add it in Settings, Providers"}).write(w)
		return
	}
	u, f := target(p, r.Method, rest, r.URL.RawQuery)
	if f != nil {
		f.write(w)
		return
	}
	if r.ContentLength > MaxRequest {
		tooLarge.write(w)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	watch := time.AfterFunc(l.c.FirstByte, func() { cancel(errSilent) })
	defer watch.Stop()
	var body io.Reader
	if r.Method == http.MethodPost {
		body = http.MaxBytesReader(w, r.Body, MaxRequest)
	}
	resp, err := l.send(ctx, p, r.Method, u, headersUp(p, r.Header), body, r.ContentLength)
	if err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the page is gone
		}
		explain(err, context.Cause(ctx), u).write(w)
		return
	}
	defer resp.Body.Close()
	watch.Stop()
	pause := time.AfterFunc(l.c.Idle, func() { cancel(errPaused) })
	defer pause.Stop()
	headersDown(resp.Header, w.Header())
	if resp.StatusCode >= 400 {
		l.passError(w, resp, p)
		return
	}
	alive := func() { pause.Reset(l.c.Idle) }
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	w.WriteHeader(resp.StatusCode)
	if err := l.copy(w, resp.Body, stream, alive); err != nil {
		if r.Context().Err() != nil || errors.Is(err, errPage) {
			panic(http.ErrAbortHandler)
		}
		l.breakOff(w, stream, explain(err, context.Cause(ctx), u))
	}
}

// send makes the request and follows redirects within the origin, for GET
// only: another origin must not get the key, and a body is gone once sent.
func (l *Relay) send(ctx context.Context, p Provider, method string, u *url.URL, h http.Header, body io.Reader, length int64) (*http.Response, error) {
	for range 4 {
		req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
		if err != nil {
			return nil, err
		}
		req.Header = h
		if body != nil {
			req.ContentLength = length
		}
		resp, err := l.transport(u.Scheme).RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 300 || resp.StatusCode > 399 || resp.StatusCode == http.StatusNotModified {
			return resp, nil
		}
		resp.Body.Close()
		next, err := u.Parse(resp.Header.Get("Location"))
		if err != nil || resp.Header.Get("Location") == "" {
			return nil, &redirected{}
		}
		if next.Scheme != u.Scheme || next.Host != u.Host || next.User != nil || method != http.MethodGet {
			return nil, &redirected{to: next.Scheme + "://" + next.Host + next.EscapedPath()}
		}
		u = next
	}
	return nil, errTooMany
}

// passError passes on a provider's own error. Some repeat the key in it.
func (l *Relay) passError(w http.ResponseWriter, resp *http.Response, p Provider) {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if p.Key != "" {
		text = bytes.ReplaceAll(text, []byte(p.Key), []byte("[key]"))
	}
	w.WriteHeader(resp.StatusCode)
	io.WriteString(w, l.c.Redact(string(text)))
}

// errPage marks that the page stopped reading.
var errPage = errors.New("the page stopped reading")

// copy passes the body on piece by piece. Of an event stream only whole
// events are passed, so that a stream that breaks in the middle of one can end
// with an event of ours.
func (l *Relay) copy(w http.ResponseWriter, body io.Reader, stream bool, alive func()) error {
	rc := http.NewResponseController(w)
	// The header goes out before the first piece is there.
	if err := rc.Flush(); err != nil {
		return errors.Join(errPage, err)
	}
	put := func(p []byte) error {
		if len(p) == 0 {
			return nil
		}
		// A writer without deadlines is a test's.
		_ = rc.SetWriteDeadline(time.Now().Add(l.c.Stuck))
		if _, err := w.Write(p); err != nil {
			return errors.Join(errPage, err)
		}
		if err := rc.Flush(); err != nil {
			return errors.Join(errPage, err)
		}
		return nil
	}
	defer rc.SetWriteDeadline(time.Time{})
	var held []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			alive()
			piece := buf[:n]
			if stream {
				held = append(held, piece...)
				n := wholeEvents(held)
				if len(held)-n > maxEvent {
					n = len(held)
				}
				piece = held[:n]
			}
			if err := put(piece); err != nil {
				return err
			}
			if stream {
				held = append(held[:0], held[len(piece):]...)
			}
		}
		if err == io.EOF {
			return put(held)
		}
		if err != nil {
			return err
		}
	}
}

// maxEvent is how many bytes of one unfinished event are held back.
const maxEvent = 1 << 20

// wholeEvents returns how much of text ends with the end of an event: an
// empty line, in any of the three line ends of server-sent events.
func wholeEvents(text []byte) int {
	end := 0
	for _, sep := range []string{"\n\n", "\r\n\r\n", "\r\r", "\n\r\n"} {
		if i := bytes.LastIndex(text, []byte(sep)); i >= 0 {
			end = max(end, i+len(sep))
		}
	}
	return end
}

// breakOff ends an answer that cannot be completed. In an event stream both
// SDKs read an error event; anything else is cut, so that it is not taken for
// whole.
func (l *Relay) breakOff(w http.ResponseWriter, stream bool, f *failure) {
	if !stream {
		panic(http.ErrAbortHandler)
	}
	w.Write([]byte("event: error\ndata: "))
	w.Write(f.json())
	w.Write([]byte("\n\n"))
	http.NewResponseController(w).Flush()
}
