package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/services"
)

// R007 to R009
func TestEndpointURL(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://me.example/sse?x=1")
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		"/messages?session=1":                 "https://me.example/messages?session=1",
		"messages":                            "https://me.example/messages",
		"?session=1":                          "https://me.example/sse?session=1",
		"https://me.example/m":                "https://me.example/m",
		"https://ME.example:443/m":            "https://ME.example:443/m",
		`{"endpoint":"/m"}`:                   "https://me.example/m",
		" /m ":                                "https://me.example/m",
		"https://evil.example/m":              "",
		"http://me.example/m":                 "",
		"//evil.example/m":                    "",
		"https://me.example:8443/m":           "",
		"https://user@me.example/m":           "",
		"https://me.example@evil.example/m":   "",
		`\\evil.example\m`:                    "",
		`/\evil.example/m`:                    "",
		"https:\\\\evil.example":              "",
		"/a\r\nHost: evil":                    "",
		"javascript:alert(1)":                 "",
		"file:///etc/passwd":                  "",
		"https:me":                            "",
		"":                                    "",
		`{"endpoint":"https://evil.example"}`: "",
	} {
		got, err := endpointURL(base, given)
		if want == "" {
			if err == nil {
				t.Errorf("endpointURL(%q) = %s", given, got)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("endpointURL(%q) = %v, %v, want %s", given, got, err, want)
		}
	}
}

// sseStub is a server of revision 2024-11-05.
type sseStub struct {
	*httptest.Server
	endpoint string // "" = /messages
	// call answers tools/call; it returns what goes onto the stream.
	call func(m stubMessage) []string
	// direct answers in the body of the POST.
	direct bool
	// pour is closed after a stream that was cut has sent an event for ever.
	pour chan struct{}

	mu      sync.Mutex
	stream  chan string // of the newest stream
	cut     chan struct{}
	opened  int
	seen    []string
	replies chan stubMessage
}

func newSSEStub(t *testing.T, s *sseStub) *sseStub {
	t.Helper()
	s.replies = make(chan stubMessage, 10)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *sseStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.mu.Lock()
		s.stream, s.cut = make(chan string, 100), make(chan struct{})
		stream, cut := s.stream, s.cut
		s.opened++
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		endpoint := s.endpoint
		if endpoint == "" {
			endpoint = "/messages"
		}
		fmt.Fprintf(w, ": hi\n\nevent: endpoint\ndata: %s\n\n", endpoint)
		flush(w)
		for {
			select {
			case text := <-stream:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
				flush(w)
			case <-cut:
				if s.pour != nil {
					pour(w, "data: ", s.pour)
				}
				return
			case <-r.Context().Done():
				return
			}
		}
	}
	var m stubMessage
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	stream := s.stream
	s.seen = append(s.seen, r.URL.Path+" "+m.Method)
	s.mu.Unlock()
	result := `{}`
	switch m.Method {
	case "":
		s.replies <- m
		w.WriteHeader(http.StatusAccepted)
		return
	case "initialize":
		// A request of the server with the id of ours comes first.
		stream <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, m.ID)
		result = `{"protocolVersion":"2024-11-05","serverInfo":{"name":"old","version":"1"},"capabilities":{"tools":{}}}`
	case "tools/list":
		result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		if s.call != nil && s.direct {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, strings.Join(s.call(m), ""))
			return
		}
		if s.call != nil {
			w.WriteHeader(http.StatusAccepted)
			for _, text := range s.call(m) {
				stream <- text
			}
			return
		}
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, m.Params)
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	if s.direct {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	stream <- text
}

func TestEventSource(t *testing.T) {
	t.Parallel()
	for _, direct := range []bool{false, true} {
		s := newSSEStub(t, &sseStub{direct: direct})
		p, r := reach(t, services.TransportSSE, s.URL+"/sse", nil)
		tools, err := p.Tools(t.Context())
		if err != nil || len(tools) != 1 || r.info.Protocol != "2024-11-05" {
			t.Errorf("Tools = %v, %v; %+v", tools, err, r.info)
		}
		if got, err := call(t, p, "echo", `{"x":1}`); err != nil || !strings.Contains(got, `"x":1`) {
			t.Errorf("echo = %q, %v", got, err)
		}
		// The server's request was answered although its id is that of ours.
		select {
		case m := <-s.replies:
			if string(m.Result) != "{}" {
				t.Errorf("ping was answered with %s, %s", m.Result, m.Error)
			}
		case <-time.After(slowdown * 2 * time.Second):
			t.Error("the ping is not answered")
		}
	}
}

func TestEndpointsOfOthers(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"https://evil.example/m", "//evil.example/m", "http://127.0.0.1:1/m", "http://user@127.0.0.1/m"} {
		s := newSSEStub(t, &sseStub{endpoint: endpoint})
		_, _, err := tryReach(t, services.TransportSSE, s.URL, nil)
		holds(t, err, "refused", "endpoint")
		if len(s.seen) > 0 {
			t.Errorf("%s: %v was sent", endpoint, s.seen)
		}
	}
	// R008: the same host without TLS.
	var s *httptest.Server
	s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/m\n\n", strings.Replace(s.URL, "https", "http", 1))
		flush(w)
		<-r.Context().Done()
	}))
	defer s.Close()
	path := write(t, "ca.pem", pemOf(s))
	_, _, err := tryReach(t, services.TransportSSE, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.CACertPath = path })
	holds(t, err, "refused", "endpoint http://")
}

func TestNoEventSource(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 405} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer s.Close()
		_, _, err := tryReach(t, services.TransportSSE, s.URL, nil)
		holds(t, err, "no stream of events", fmt.Sprint(status), "http")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer s.Close()
	_, _, err := tryReach(t, services.TransportSSE, s.URL, nil)
	holds(t, err, "web page")
	// A stream that never names the endpoint ends with the handshake time.
	mute := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush(w)
		<-r.Context().Done()
	}))
	defer mute.Close()
	_, _, err = tryReach(t, services.TransportSSE, mute.URL, func(spec *services.Spec, _ *services.Hooks) { spec.HandshakeTimeout = 300 * time.Millisecond })
	if err == nil {
		t.Error("it connects")
	}
}

// peer bug E3: a stream that is cut fails what waits, and a new one is opened.
func TestEventSourceCut(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	s := &sseStub{}
	s.call = func(m stubMessage) []string {
		if ran.Add(1) == 1 {
			s.mu.Lock()
			close(s.cut)
			s.mu.Unlock()
			return nil
		}
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"again"}]}}`, m.ID)}
	}
	newSSEStub(t, s)
	p, r := reach(t, services.TransportSSE, s.URL, nil)
	began := time.Now()
	_, err := call(t, p, "echo", `{}`)
	holds(t, err, "lost the session", "outcome unknown, not replayed")
	if time.Since(began) > slowdown*time.Second {
		t.Errorf("the error took %s", time.Since(began))
	}
	if got, err := call(t, p, "echo", `{}`); err != nil || got != "again" {
		t.Errorf("the next call = %q, %v", got, err)
	}
	if ran.Load() != 2 || s.opened != 2 {
		t.Errorf("%d calls ran, %d streams were opened", ran.Load(), s.opened)
	}
	s.CloseClientConnections()
	s.Close()
	select {
	case err := <-r.closed:
		holds(t, err, "cannot connect")
	case <-time.After(slowdown * 5 * time.Second):
		t.Error("its end is not seen")
	}
}

func TestEventSourceTooLong(t *testing.T) {
	t.Parallel()
	const limit = 50 << 10
	s := newSSEStub(t, &sseStub{})
	s.call = func(m stubMessage) []string {
		var p struct{ Arguments struct{ Kind string } }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil
		}
		long := strings.Repeat("x", limit)
		good := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"good"}]}}`, m.ID)
		switch p.Arguments.Kind {
		case "known":
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`, m.ID, long)}
		case "unknown":
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","result":{"x":"%s"},"id":%s}`, long, m.ID)}
		case "junk before":
			return []string{long + "x\ndata: " + good, good}
		case "notification":
			return []string{`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + long + `"}}`, good}
		}
		return []string{good}
	}
	p, _ := reach(t, services.TransportSSE, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.MaxResponseBytes = limit })
	for kind, want := range map[string]string{"known": "", "unknown": "", "junk before": "good", "notification": "good", "": "good"} {
		got, err := call(t, p, "echo", fmt.Sprintf(`{"kind":%q}`, kind))
		if want == "" && (err == nil || !strings.Contains(err.Error(), "max_response_bytes")) || want != "" && (err != nil || got != want) {
			t.Errorf("%q: %q, %v", kind, got, err)
		}
	}
}

func TestEventSourceQuestions(t *testing.T) {
	t.Parallel()
	s := newSSEStub(t, &sseStub{})
	s.call = func(m stubMessage) []string {
		s.mu.Lock()
		stream := s.stream
		s.mu.Unlock()
		stream <- `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`
		r := <-s.replies
		if string(r.ID) != `"q"` {
			r = <-s.replies // the first was the answer to the ping
		}
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, m.ID, r.Result)}
	}
	p, _ := reach(t, services.TransportSSE, s.URL, func(_ *services.Spec, h *services.Hooks) {
		h.Ask = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"role":"assistant"}`), nil
		}
	})
	if got, err := call(t, p, "echo", `{}`); err != nil || got != `{"role":"assistant"}` {
		t.Errorf("call = %q, %v", got, err)
	}
}
