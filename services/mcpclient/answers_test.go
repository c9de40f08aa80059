package mcpclient

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"zeroclaw/services"
)

func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 10<<20))
	_ = z.Close()
	type answer struct {
		name string
		do   func(c stubCall)
		want []string
	}
	answers := []answer{
		{"page", func(c stubCall) { c.w.Header().Set("Content-Type", "text/html"); fmt.Fprint(c.w, "<html>hi") }, []string{"web page"}},
		{"plain", func(c stubCall) { c.w.Header().Set("Content-Type", "text/plain"); fmt.Fprint(c.w, "hi") }, []string{"text/plain"}},
		{"none", func(c stubCall) { c.w.Header()["Content-Type"] = nil; fmt.Fprint(c.w, "hi") }, []string{"without a content type"}},
		{"accepted", func(c stubCall) { c.w.WriteHeader(http.StatusAccepted) }, []string{"without answering"}},
		{"empty", func(c stubCall) { c.w.Header().Set("Content-Type", "application/json") }, []string{"empty"}},
		{"junk", func(c stubCall) { c.w.Header().Set("Content-Type", "application/json"); fmt.Fprint(c.w, "{") }, []string{"no JSON-RPC message"}},
		{"other", func(c stubCall) { c.id = json.RawMessage("99999"); c.text("x") }, []string{"another request"}},
		{"failed", func(c stubCall) { http.Error(c.w, strings.Repeat("x", 1<<20), http.StatusBadGateway) }, []string{"502"}},
		{"failing page", func(c stubCall) {
			c.w.Header().Set("Content-Type", "text/html")
			c.w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(c.w, "<html><body>busy</body></html>")
		}, []string{"503", "web page"}},
		// R013
		{"zipped", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.Header().Set("Content-Encoding", "gzip")
			_, _ = c.w.Write(zipped.Bytes())
		}, []string{"compressed (gzip)"}},
		{"cut", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.Header().Set("Content-Length", "1000")
			fmt.Fprint(c.w, "{")
			flush(c.w)
			panic(http.ErrAbortHandler)
		}, []string{"broke", "outcome unknown"}},
		// peer bug E3
		{"cut stream", func(c stubCall) { c.events(); panic(http.ErrAbortHandler) }, []string{"broke", "outcome unknown"}},
		{"ended stream", func(c stubCall) { c.events() }, []string{"ended", "outcome unknown"}},
		{"error", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(c.w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad \u001b[31m argument"}}`, c.id)
		}, []string{"-32602", `bad \x1b[31m argument`}},
		{"error without id", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(c.w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not read"}}`)
		}, []string{"-32700"}},
	}
	s := &stub{tools: map[string]func(stubCall){}}
	for _, a := range answers {
		s.tools[a.name] = a.do
	}
	newStub(t, s)
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	for _, a := range answers {
		_, err := call(t, p, a.name, `{}`)
		if err == nil {
			t.Errorf("%s: no error", a.name)
			continue
		}
		for _, part := range a.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want it to hold %q", a.name, err, part)
			}
		}
		if len(err.Error()) > 2000 {
			t.Errorf("%s: the error has %d bytes", a.name, len(err.Error()))
		}
		if _, err := call(t, p, "echo", `{}`); err != nil {
			t.Errorf("after %s: %v", a.name, err)
		}
	}
	if s.beginnings() != 1 {
		t.Errorf("%d sessions", s.beginnings())
	}
}

// The answer may come as a batch, with other messages, with an id that is
// written differently, or in an event of several lines.
func TestShapesOfAnswers(t *testing.T) {
	t.Parallel()
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"batch": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(c.w, `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in a batch"}},%s]`, c.answer("batched"))
		},
		"float": func(c stubCall) { c.id = json.RawMessage(string(c.id) + ".0"); c.text("floating") },
		"lines": func(c stubCall) {
			c.events()
			before, after, _ := strings.Cut(c.answer("several"), ",")
			fmt.Fprintf(c.w, ": hello\r\nevent: message\r\ndata: %s,\r\ndata:%s\r\n\r\n", before, after)
		},
		"other events": func(c stubCall) {
			c.events()
			fmt.Fprint(c.w, "event: ping\ndata: {}\n\ndata: no json\n\ndata:\n\n")
			c.event(c.answer("found"))
		},
	}})
	p, r := reach(t, services.TransportHTTP, s.URL, nil)
	for tool, want := range map[string]string{"batch": "batched", "float": "floating", "lines": "several", "other events": "found"} {
		if got, err := call(t, p, tool, `{}`); err != nil || got != want {
			t.Errorf("%s = %q, %v", tool, got, err)
		}
	}
	r.wait(t, "in a batch")
}
