package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// filtered runs input through a filter in pieces of n bytes.
func filtered(limit, n int, input []byte) (passed []string, results, long, noise []string) {
	var out bytes.Buffer
	f := &messageFilter{limit: limit, log: func(s string) { noise = append(noise, s) },
		other: func(_ message, raw []byte) { passedOn(&out, raw) },
		answer: func(id string, raw, failed json.RawMessage) bool {
			results = append(results, id+"="+string(raw))
			if id == "99" {
				return false
			}
			answeredOn(&out, id, failed)
			return true
		},
		overlong: func(id string, size, _ int64) { long = append(long, fmt.Sprintf("%s/%d", id, size)) },
		unusable: func(id, why string) { long = append(long, id+" "+why) }}
	for len(input) > 0 {
		m := min(n, len(input))
		f.Write(input[:m])
		input = input[m:]
	}
	f.flush()
	for line := range bytes.Lines(out.Bytes()) {
		passed = append(passed, strings.TrimSuffix(string(line), "\n"))
	}
	return passed, results, long, noise
}

// passedOn writes a message, answeredOn an answer (without its result) as one line.
func passedOn(to *bytes.Buffer, raw []byte) {
	to.Write(append(bytes.Clone(raw), '\n'))
}

func answeredOn(to *bytes.Buffer, id string, failed json.RawMessage) {
	if failed != nil {
		fmt.Fprintf(to, `{"id":%s,"error":%s}`+"\n", id, failed)
	} else {
		fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
	}
}

func TestFilter(t *testing.T) {
	long := func(head, tail string) string { return head + strings.Repeat("x", 300) + tail }
	for _, tt := range []struct{ name, in, passed, results, long, noise string }{
		{"answer", `{"jsonrpc":"2.0","id":1,"result":{"a": 1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `1={"a": 1}`, "", ""},
		{"answer, id last, CRLF", "{\"result\":[\"\\\"}\"],\"id\":\"x\"}\r", `{"jsonrpc":"2.0","id":"x","result":{}}`, `"x"=["\"}"]`, "", ""},
		{"answer to nobody", `{"id":99,"result":{}}`, "", "99={}", "", ""},
		{"error", `{"id":2,"error":{"code":1}}`, `{"id":2,"error":{"code":1}}`, "2=", "", ""},
		{"error null", `{"id":2,"error":null,"result":5}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, "2=5", "", ""},
		{"neither", `{"jsonrpc":"2.0","id":7,"error":null}`, "", "", "7 " + neither, ""},
		{"no message", `{"level":30,"id":7}`, "", "", "", `{"level":30,"id":7}`},
		{"Latin-1", "{\"id\":1,\"result\":{\"t\":\"caf\xe9\"}}", `{"jsonrpc":"2.0","id":1,"result":{}}`, "1={\"t\":\"caf\uFFFD\"}", "", ""},
		{"Latin-1 notification", "{\"method\":\"n\",\"params\":{\"t\":\"\xff\xfe\"}}", "{\"method\":\"n\",\"params\":{\"t\":\"\uFFFD\"}}", "", "", ""},
		{"notification", `{"method":"n","params":{"id":4}}`, `{"method":"n","params":{"id":4}}`, "", "", ""},
		{"request", `{"id":5,"method":"n"}`, `{"id":5,"method":"n"}`, "", "", ""},
		{"batch", `[{"id":1,"result":1},{"method":"n"},7]`, `{"jsonrpc":"2.0","id":1,"result":{}} {"method":"n"}`, "1=1", "", "7"},
		{"text", "Listening…", "", "", "", "Listening…"},
		{"other JSON", `{"level":"info"} [] 42`, "", "", "", `{"level":"info"} [] 42`},
		{"object without meaning", `{"level":"info"}`, "", "", "", `{"level":"info"}`},
		{"half", `{"id":1,"result":{`, "", "", "", `{"id":1,"result":{`},
		{"two in a line", `{"id":1,"result":1}{"id":2,"result":2}`, "", "", "", `{"id":1,"result":1}{"id":2,"result":2}`},
		{"id null", `{"id":null,"error":{"code":-32700}}`, "", "", "", `{"id":null,"error":{"code":-32700}}`},
		{"key in disguise", `{"id":1,"result":{"id":2,"method":"x"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `1={"id":2,"method":"x"}`, "", ""},
		{"long, id first", long(`{"jsonrpc":"2.0","id":7,"result":{"t":"`, `"}}`), "", "", "7/342", ""},
		{"long, id last", long(`{"result":{"t":"`, `"},"jsonrpc":"2.0","id":"a\"b"}`), "", "", `"a\"b"/347`, ""},
		{"long, id inside only", long(`{"jsonrpc":"2.0","result":{"t":"`, `","id":3}}`), "", "", "/342", ""},
		{"long, id in a text", long(`{"result":{"t":"`, `,\"id\":3}"}}`), "", "", "/329", ""},
		{"long text", long("noise", ""), "", "", "", "a line of 305 bytes"},
		{"empty lines", " \r\n\n", "", "", "", ""},
	} {
		for _, n := range []int{1, 7, 64, 4096} {
			for _, end := range []string{"\n", ""} {
				passed, results, long, noise := filtered(256, n, []byte(tt.in+end))
				got := strings.Join(noise, " ")
				if strings.Join(passed, " ") != tt.passed || strings.Join(results, " ") != tt.results || strings.Join(long, " ") != tt.long ||
					got != tt.noise && !(tt.name == "long text" && strings.HasPrefix(got, tt.noise)) {
					t.Errorf("%s in pieces of %d: passed %q, results %q, long %q, noise %q", tt.name, n, passed, results, long, noise)
				}
			}
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"result\":{\"a\":[1,\"\\\\\\\"\"]}}\nnoise\n[{\"id\":1,\"result\":null}]\n"), 3)
	f.Add([]byte(`{"result":{"t":"`+strings.Repeat("y", 600)+`"},"id":3}`), 100)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n < 1 {
			n = 1
		}
		passed, results, long, noise := filtered(512, n, in)
		for _, p := range passed {
			if !json.Valid([]byte(p)) {
				t.Errorf("passed %q", p)
			}
		}
		// However it is cut, it is the same.
		p2, r2, l2, n2 := filtered(512, 1<<20, in)
		if fmt.Sprint(passed, results, long, noise) != fmt.Sprint(p2, r2, l2, n2) {
			t.Errorf("in pieces of %d: %q %q %q %q, whole: %q %q %q %q", n, passed, results, long, noise, p2, r2, l2, n2)
		}
	})
}

func FuzzScanMessage(f *testing.F) {
	f.Add([]byte(`{"id" : 1 , "result":{"a":"}\\\""}, "method":null,"error":[]}`))
	f.Add([]byte(`{"id":{"a":1},"id":2,"\u0069d":3}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		m, ok := scanMessage(in)
		var want map[string]json.RawMessage
		if err := json.Unmarshal(in, &want); err != nil || want == nil {
			if ok {
				t.Errorf("scanMessage(%q) took it for an object", in)
			}
			return
		}
		if bytes.Contains(in, []byte(`\u00`)) {
			return // a key written with escapes is not ours
		}
		for key, got := range map[string]json.RawMessage{"id": m.id, "method": m.method, "result": m.result, "error": m.err} {
			w := want[key]
			if string(w) == "null" && got == nil {
				continue
			}
			if string(got) != string(w) {
				t.Errorf("scanMessage(%q).%s = %q, want %q", in, key, got, w)
			}
		}
	})
}

func BenchmarkFilterBigAnswer(b *testing.B) {
	line := []byte(`{"result":{"content":[{"type":"text","text":"` + strings.Repeat("0123456789 ", 1<<20) + `"}]},"jsonrpc":"2.0","id":1}` + "\n")
	b.SetBytes(int64(len(line)))
	f := &messageFilter{limit: maxLine, log: func(string) {}, answer: func(string, json.RawMessage, json.RawMessage) bool { return true }}
	for b.Loop() {
		f.Write(line)
	}
}

// Whoever writes uses its buffer again: a result must not change with it, also
// when it came in a batch.
func TestResultsOutliveTheBuffer(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"n":1}}`,
		`[{"jsonrpc":"2.0","id":1,"result":{"n":1}}]`,
	} {
		var got json.RawMessage
		f := &messageFilter{limit: maxLine, log: func(string) {}, answer: func(_ string, raw, _ json.RawMessage) bool {
			got = raw
			return true
		}}
		buffer := []byte(line + "\n")
		if _, err := f.Write(buffer); err != nil {
			t.Fatal(err)
		}
		for i := range buffer {
			buffer[i] = 'x'
		}
		if string(got) != `{"n":1}` {
			t.Errorf("the result of %s became %s", line, got)
		}
	}
}
