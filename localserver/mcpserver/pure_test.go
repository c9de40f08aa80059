package mcpserver

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func accepting() *Server {
	return New(Config{Check: func(text []byte) error {
		if !json.Valid(text) {
			return errors.New("it is no JSON")
		}
		return nil
	}, Redact: func(s string) string { return s }})
}

func closed(t testing.TB, s *Server) *Server {
	t.Cleanup(func() { s.Close(t.Context()) })
	return s
}

func TestParse(t *testing.T) {
	s := closed(t, accepting())
	for _, tt := range []struct {
		body string
		code int // 0: it is a message
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 0},
		{" \r\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\",\"params\":{}}\n", 0},
		{`{"jsonrpc":"2.0","id":-1,"result":null}`, 0},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, 0},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0},
		{``, codeParse},
		{`{`, codeParse},
		{"\u00a0{}", codeParse}, // no space of JSON
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, codeInvalidRequest},
		{`"ping"`, codeInvalidRequest},
		{`null`, codeInvalidRequest},
		{`{}`, codeInvalidRequest},
		{`{"id":1,"method":"ping"}`, codeInvalidRequest},
		{`{"jsonrpc":2.0,"id":1,"method":"ping"}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","result":{}}`, codeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, codeInvalidParams},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, codeInvalidParams},
	} {
		got := 0
		if _, failed := s.parse([]byte(tt.body)); failed != nil {
			got = failed.code
		}
		if got != tt.code {
			t.Errorf("parse(%q) = %d, want %d", tt.body, got, tt.code)
		}
	}
}

// FuzzParse: what is taken for a message is one, and its parts are JSON.
func FuzzParse(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"p"}}}`)
	f.Add(`{"jsonrpc":"2.0","id":"\u0031","result":{"action":"accept"}}`)
	f.Add(`{"jsonrpc":"2.0","method":"x","params":{}} `)
	f.Add(`[]`)
	s := closed(f, accepting())
	f.Fuzz(func(t *testing.T, body string) {
		m, failed := s.parse([]byte(body))
		if failed != nil {
			return
		}
		var plain struct {
			Method string
			Params map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(body), &plain); err != nil && !strings.Contains(err.Error(), "out of range") {
			t.Fatalf("%q is taken for a message: %v", body, err)
		}
		for _, part := range []json.RawMessage{m.id, m.params, m.result, m.failed} {
			if part != nil && !json.Valid(part) {
				t.Errorf("%q has the part %q", body, part)
			}
		}
		_, _ = capabilitiesOf(m.params), m.progressToken()
	})
}

func TestHeaderText(t *testing.T) {
	for in, want := range map[string]string{
		"add": "add", "": "", "=?base64?YcOxYWRpcg==?=": "añadir", "=?base64?PT9iYXNlNjQ/eD89?=": "=?base64?x?=",
		"=?base64?%%?=": "=?base64?%%?=", "=?base64?YQ==": "=?base64?YQ==", "=?base64??=": "",
	} {
		if got := headerText(in); got != want {
			t.Errorf("headerText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCapabilities(t *testing.T) {
	for raw, want := range map[string]capabilities{
		``: {}, `{}`: {}, `[]`: {}, `{"elicitation":{}}`: {forms: true}, `{"elicitation":{"form":{}}}`: {forms: true},
		`{"elicitation":{"url":{}}}`: {pages: true}, `{"elicitation":{"url":{},"form":{}},"sampling":{}}`: {true, true, true},
		`{"roots":{},"sampling":{}}`: {replies: true},
	} {
		if got := capabilitiesOf(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// TestAnswers: only a clear yes lets a call run.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		kind, result, decision string
		ok                     bool
	}{
		{KindCall, `{"action":"accept","content":{"decision":"once"}}`, "once", true},
		{KindCall, `{"action":"accept","content":{"decision":"ONCE"}}`, "deny", true},
		{KindCall, `{"action":"accept","content":{"decision":["once"]}}`, "deny", true},
		{KindCall, `{"action":"accept","content":{}}`, "deny", true},
		{KindCall, `{"action":"accept"}`, "deny", true},
		{KindCall, `{"action":"decline","content":{"decision":"once"}}`, "deny", true},
		{KindCall, `{"action":"cancel"}`, "", false},
		{KindCall, `{}`, "", false},
		{KindCall, `"once"`, "", false},
		{KindForm, `{"action":"accept","content":{"a":1}}`, "accept", true},
		{KindForm, `{"action":"once"}`, "", false},
		{KindReply, `{"role":"assistant"}`, "accept", true},
		{KindReply, ``, "", false},
	} {
		var raw json.RawMessage
		if tt.result != "" {
			raw = json.RawMessage(tt.result)
		}
		if a, ok := answerTo(Question{Kind: tt.kind}, raw); ok != tt.ok || a.Decision != tt.decision {
			t.Errorf("%s %s = %+v, %v", tt.kind, tt.result, a, ok)
		}
	}
}

// TestShows: a question that no text can say, or that the client has no way to
// show, is not put to it.
func TestShows(t *testing.T) {
	all := capabilities{forms: true, pages: true, replies: true}
	for _, tt := range []struct {
		can  capabilities
		q    Question
		want bool
	}{
		{all, Question{Kind: KindCall, Text: "may it?"}, true},
		{all, Question{Kind: KindCall}, false},
		{capabilities{pages: true, replies: true}, Question{Kind: KindCall, Text: "may it?"}, false},
		{capabilities{forms: true}, Question{Kind: KindForm, Params: json.RawMessage(`{"mode":"url"}`)}, false},
		{capabilities{pages: true}, Question{Kind: KindForm, Params: json.RawMessage(`{"mode":"url"}`)}, true},
		{capabilities{pages: true}, Question{Kind: KindForm, Params: json.RawMessage(`{}`)}, false},
		{capabilities{forms: true}, Question{Kind: KindReply}, false},
	} {
		if got := tt.can.shows(tt.q); got != tt.want {
			t.Errorf("%+v shows %+v = %v", tt.can, tt.q, got)
		}
	}
}

func TestResults(t *testing.T) {
	if got := string(withReason(nil, `no "way"`)); got != `{"content":[{"type":"text","text":"no \"way\""}],"isError":true}` {
		t.Errorf("a reason alone = %s", got)
	}
	whole := json.RawMessage(`{"content":[{"type":"text","text":"half"},{"type":"image"}],"structuredContent":{}}`)
	if got := string(withReason(whole, "time is up")); got != `{"content":[{"type":"text","text":"time is up"},{"type":"text","text":"half"},{"type":"image"}],"isError":true}` {
		t.Errorf("with what there is = %s", got)
	}
	modern := &client{version: modernVersion}
	for _, tt := range []struct {
		c         *client
		caches    bool
		raw, want string
	}{
		{&client{version: "2025-11-25"}, true, `{"a":1}`, `{"a":1}`},
		{modern, false, `{"a":1}`, `{"resultType":"complete","a":1}`},
		{modern, false, `{}`, `{"resultType":"complete"}`},
		{modern, true, `{ }`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		{modern, true, `{"resultType":"input_required","ttlMs":5}`, `{"cacheScope":"private","resultType":"input_required","ttlMs":5}`},
		{modern, true, `7`, `7`},
	} {
		if got := string(complete(tt.c, tt.caches, json.RawMessage(tt.raw))); got != tt.want {
			t.Errorf("%s = %s, want %s", tt.raw, got, tt.want)
		}
	}
	if got := string(without(json.RawMessage(`{"_meta":{"a":1},"uri":"x"}`), "_meta")); got != `{"uri":"x"}` {
		t.Errorf("without _meta: %s", got)
	}
}

// TestErrorStatus: an error is sent with the status that its revision gives it.
func TestErrorStatus(t *testing.T) {
	for _, tt := range []struct {
		modern bool
		e      rpcError
		want   int
	}{
		{false, rpcError{code: codeInvalidParams}, 200},
		{true, rpcError{code: codeInvalidParams}, 400},
		{true, rpcError{code: codeNoMethod}, 404},
		{true, rpcError{code: codeInternal}, 200},
		{true, rpcError{code: codeInternal, status: 503}, 503},
		{false, rpcError{code: codeInvalidRequest, status: 404}, 404},
	} {
		w := httptest.NewRecorder()
		p := newReply(w, httptest.NewRequest(http.MethodPost, "/mcp", nil), json.RawMessage("1"))
		p.modern = tt.modern
		p.fail(&tt.e)
		if w.Code != tt.want || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%+v = %d %s, want %d", tt.e, w.Code, w.Body, tt.want)
		}
	}
}

// TestProgressToken: only texts and numbers are tokens.
func TestProgressToken(t *testing.T) {
	for raw, want := range map[string]string{`"p"`: `"p"`, `-1`: `-1`, `0`: `0`, `true`: "", `null`: "", `{}`: "", `[1]`: ""} {
		m := message{params: json.RawMessage(`{"_meta":{"progressToken":` + raw + `}}`)}
		if got := string(m.progressToken()); got != want {
			t.Errorf("%s = %s", raw, got)
		}
	}
	if got := string(number(math.Inf(1))); got != "0" {
		t.Errorf("an infinite number = %s", got)
	}
}
