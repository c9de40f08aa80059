package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

// nest is a list in a list, n times.
func nest(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestCheckDepth(t *testing.T) {
	t.Parallel()
	deep := nest(10_001)
	for _, tt := range []struct{ name, in, want string }{
		{"answer", `{"jsonrpc":"2.0","id":7,"result":` + deep + `}`, "7 answer"},
		{"id last", `{"result":{"a":` + deep + `,"id":3},"jsonrpc":"2.0","id":"x\"}"}`, `"x\"}" answer`},
		{"id in the middle", `{"result":` + deep + `,"id":8,"jsonrpc":"2.0"}`, "8 answer"},
		{"error", `{"id":7,"error":{"code":1,"data":` + deep + `}}`, "7 answer"},
		{"just over", `{"id":7,"result":` + nest(maxDepth) + `}`, "7 answer"},
		{"just under", `{"id":7,"result":` + nest(maxDepth-1) + `}`, ""},
		{"request", `{"id":7,"method":"m","params":` + deep + `}`, `7 "m"`},
		{"notification", `{"method":"m","params":` + deep + `}`, ` "m"`},
		{"batch", `[{"id":7,"result":` + deep + `},{"method":"m"}]`, " answer"},
		{"log", `{"level":"info","data":` + deep + `}`, ""},
		{"no JSON", `{"id":7,"result":` + deep + `},`, ""},
		{"no JSON in front", `{id:7,"result":` + deep + `}`, ""},
		{"open", `{"id":7,"result":` + strings.Repeat("[", 20_000), ""},
		{"closed too often", strings.Repeat("}", 20_000) + deep, ""},
		{"in a text", `{"id":7,"result":"` + deep + `"}`, ""},
		{"wide", `{"id":7,"result":[` + strings.Repeat("[],", 20_000) + `[]]}`, ""},
		{"nothing", "", ""},
	} {
		got := ""
		if e := checkDepth([]byte(tt.in)); e != nil {
			got = e.id + " answer"
			if e.method != nil {
				got = e.id + " " + string(e.method)
			}
		}
		if got != tt.want {
			t.Errorf("%s = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzOutline(f *testing.F) {
	f.Add([]byte(`{"id" : 1 , "result":{"a":["}\\\""]}, "error":[]}`))
	f.Add([]byte(`[[1],{"a":2}] `))
	f.Add([]byte(`}"]{`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, depth := outline(in)
		if len(out) > len(in) || depth > len(in) {
			t.Errorf("outline(%q) = %q, %d", in, out, depth)
		}
		// Of JSON it is JSON, with the same names and ids.
		if json.Valid(in) != json.Valid(out) && json.Valid(in) {
			t.Errorf("outline(%q) = %q", in, out)
		}
		var a, b map[string]json.RawMessage
		if json.Unmarshal(in, &a) == nil && json.Unmarshal(out, &b) == nil {
			for name, value := range a {
				if value[0] != '{' && value[0] != '[' && !bytes.Equal(value, b[name]) || len(a) != len(b) {
					t.Errorf("outline(%q) = %q", in, out)
				}
			}
		}
	})
}

// What is nested too deeply is told of at once, and what came with it is read.
func TestFilterTellsOfDepth(t *testing.T) {
	t.Parallel()
	deep := nest(10_001)
	for _, tt := range []struct{ name, in, passed, unusable string }{
		{"answer", `{"jsonrpc":"2.0","result":` + deep + `,"id":7,"x":1}`, "", "7"},
		{"batch", `[{"id":1,"result":1},{"id":7,"result":` + deep + `}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`, "7"},
		{"request", `{"id":5,"method":"m","params":` + deep + `}`, `{"jsonrpc":"2.0","id":5,"method":"m"}`, ""},
		{"notification", `{"method":"m","params":` + deep + `}`, "", ""},
		{"noise", `{"level":` + deep + `}`, "", ""},
	} {
		var out bytes.Buffer
		var told []string
		f := &messageFilter{limit: maxLine, log: func(string) {},
			other:  func(_ message, raw []byte) { passedOn(&out, raw) },
			answer: func(id string, _, failed json.RawMessage) bool { answeredOn(&out, id, failed); return true },
			unusable: func(id, why string) {
				told = append(told, id)
				if !strings.Contains(why, "levels deep") {
					t.Errorf("%s: %s", tt.name, why)
				}
			}}
		if _, err := f.Write([]byte(tt.in + "\n")); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); got != tt.passed || strings.Join(told, " ") != tt.unusable {
			t.Errorf("%s: passed %.200q, told of %q", tt.name, got, told)
		}
	}
}

// A message that is too long and no answer fails no call.
func TestLongMessageOfTheServerIsNoAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for _, in := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + long + `"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{"data":"` + long + `"}}`,
	} {
		if _, _, told, noise := filtered(256, 64, []byte(in+"\n")); len(told) != 0 || len(noise) != 1 {
			t.Errorf("%.60s: told of %q, noise %q", in, told, noise)
		}
	}
}

// deepAnswer fails within a moment, whatever brings it, and the server works on.
func deepAnswer(t *testing.T, p services.Peer) {
	t.Helper()
	began := time.Now()
	_, err := call(t, p, "deep", `{}`)
	holds(t, err, "nested more than 9900 levels deep")
	var a interface{ Answered() bool }
	if !errors.As(err, &a) || !a.Answered() {
		t.Errorf("%v counts as if nothing had come", err)
	}
	if took := time.Since(began); took > slowdown*500*time.Millisecond {
		t.Errorf("the error took %s", took)
	}
	if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
		t.Errorf("afterwards echo = %q, %v", got, err)
	}
}

func TestDeepAnswer(t *testing.T) {
	t.Parallel()
	answer := func(c stubCall) string {
		return fmt.Sprintf(`{"result":{"content":[],"structuredContent":%s},"jsonrpc":"2.0","id":%s}`, nest(10_001), c.id)
	}
	deep := func(c stubCall) {
		if c.r.URL.Path == "/events" {
			c.events()
			c.event(answer(c))
			<-c.r.Context().Done() // the stream stays open
			return
		}
		c.w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(c.w, answer(c))
	}
	s := newStub(t, &stub{tools: map[string]func(stubCall){"deep": deep}})
	for _, path := range []string{"/", "/events"} {
		p, _ := reach(t, services.TransportHTTP, s.URL+path, nil)
		deepAnswer(t, p)
	}
	bare := newStub(t, &stub{tools: map[string]func(stubCall){"deep": deep}, stateless: true})
	p, _ := reach(t, services.TransportJSONRPC, bare.URL, nil)
	deepAnswer(t, p)
	for _, direct := range []bool{false, true} {
		old := newSSEStub(t, &sseStub{direct: direct, call: func(m stubMessage) []string {
			result := `{"content":[{"type":"text","text":"{}"}]}`
			if strings.Contains(string(m.Params), `"deep"`) {
				result = nest(10_001)
			}
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)}
		}})
		p, _ := reach(t, services.TransportSSE, old.URL, nil)
		deepAnswer(t, p)
	}
	p, _ = dial(t, "plain", nil)
	deepAnswer(t, p)
}

// A schema that is nested too deeply fails the listing, with that reason.
func TestDeepSchema(t *testing.T) {
	t.Parallel()
	r := newRig()
	p, err := New(testConfig()).Connect(t.Context(), peerSpec(t, "x", "deepschema"), r.hooks)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	began := time.Now()
	_, err = p.Tools(t.Context())
	holds(t, err, "nested more than 9900 levels deep")
	if took := time.Since(began); took > slowdown*500*time.Millisecond {
		t.Errorf("the error took %s", took)
	}
}

// An id comes back in another spelling.
func TestSpoiledAnswerWithAnotherSpellingOfItsID(t *testing.T) {
	t.Parallel()
	s := newSession(newRig().hooks, Identity{})
	x := &exchange{}
	s.pending["7"] = x
	if !s.spoil("7.0", errClosed) || x.failed == nil {
		t.Errorf("the answer counts as a good one: %+v", x)
	}
}
