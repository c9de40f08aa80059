package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"zeroclaw/tools/jsonparts"
)

func TestNewMessage(t *testing.T) {
	tests := []struct{ raw, id, method, version, name, cancels string }{
		{raw: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, id: "1", method: "tools/list"},
		{raw: ` { "method" : "ping" , "id" : "a\"b" } `, id: `"a\"b"`, method: "ping"},
		{raw: `{"id":-1.5e3,"result":{"id":2,"method":"x"}}`, id: "-1.5e3"},
		{raw: `{"method":"tools/call","params":{"name":"a","arguments":{"name":"b"}},"id":1}`, id: "1", method: "tools/call", name: "a"},
		{raw: `{"params":{"uri":"x:y"},"method":"resources/read"}`, method: "resources/read", name: "x:y"},
		{raw: `{"method":"notifications/cancelled","params":{"requestId":"7"}}`, method: "notifications/cancelled", cancels: `"7"`},
		{raw: `{"\u0069d":3,"method":"tools\/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, id: "3", method: "tools/call", version: "2026-07-28"},
		{raw: `{"ID":3,"Method":"ping","params":{"_META":{}}}`},
		{raw: `{"id":1,"method":"m","params":[1]}`, id: "1", method: "m"},
		{raw: `[{"id":1}]`, id: "null", method: "batch"},
		{raw: `{}`},
	}
	for _, tt := range tests {
		m, err := newMessage([]byte(tt.raw))
		if err != nil || string(m.id) != tt.id || m.method != tt.method || m.version != tt.version || m.name != tt.name || string(m.cancels) != tt.cancels {
			t.Errorf("newMessage(%s) = %s %q %q %q %s, %v", tt.raw, m.id, m.method, m.version, m.name, m.cancels, err)
		}
	}
	for _, raw := range []string{"", "1", `"x"`, "{", `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1,}`, `{"a":"x}`, `{"a":{]}`, `{"a":1}x`, `{"a":[1}`, `{"a" 1}`, `{a:1}`} {
		if m, err := newMessage([]byte(raw)); err == nil && json.Valid([]byte(raw)) != true && raw != `{"a":[1}` && raw != `{"a":{]}` {
			t.Errorf("newMessage(%q) = %v, want an error", raw, m)
		}
	}
}

// FuzzMembers against encoding/json: of valid objects the same members are
// found, and nothing makes it panic.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a\\\"":"b\\\\","c":[{"d":"}]"}],"e":{"f":{}}}`, "\t{ \"a\" :\r\n[ ] , \"b\": -0.1e+3 }\n", `{"a":"\ud800"}`, `{"a":`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]string{}
		err := jsonparts.Split(raw, func(name string, value json.RawMessage) { got[name] = string(value) })
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil {
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("members(%q) = %q, %v; want %q", raw, got, err, want)
		}
		for name, value := range want {
			if v, ok := got[name]; ok && v != string(value) {
				t.Fatalf("members(%q)[%q] = %q, want %q", raw, name, v, value)
			}
		}
	})
}

func BenchmarkNewMessage(b *testing.B) {
	raw := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`abcdefgh\n`, 1<<20) + `"}]}}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := newMessage(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func TestHeaderValue(t *testing.T) {
	for in, want := range map[string]string{
		"tools/call": "tools/call", "": "", "a b": "a b", " a": "=?base64?IGE=?=", "ñ": "=?base64?w7E=?=", "a\nb": "=?base64?YQpi?=", "=?base64?x?=": "=?base64?PT9iYXNlNjQ/eD89?=",
	} {
		if got := headerValue(in); got != want {
			t.Errorf("headerValue(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEventReader(t *testing.T) {
	r := &eventReader{in: bufio.NewReaderSize(strings.NewReader(": hello\n\nid: 1\nretry: 20\ndata: {\ndata:}\n\nevent: x\r\ndata: 2\r\n\r\ndata\n\nid: 3\nretry: 99999999\ndata: 4\n\ndata: cut"), 16)}
	var got []string
	for {
		data, err := r.next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		got = append(got, string(data))
	}
	if s := strings.Join(got, "|"); s != "{\n}|2|4" {
		t.Errorf("the events are %q", s)
	}
	if r.last != "3" || r.retry != maxRetry {
		t.Errorf("it goes on after %q, in %v", r.last, r.retry)
	}
}

func TestNextLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("ab\ncd\r\n\n"+strings.Repeat("x", 100)+"\nef\n"+strings.Repeat("y", 10)+"\nz"), 16)
	var got []string
	for {
		line, err := nextLine(in, 10)
		if err == io.EOF {
			break
		}
		if err != nil {
			line = []byte("!")
		}
		got = append(got, string(line))
	}
	if s := strings.Join(got, "|"); s != "ab|cd||!|ef|yyyyyyyyyy|z" {
		t.Errorf("the lines are %q", s)
	}
}

// TestLineWriter: what a client reads is one message a line, and a client that
// reads no more is noticed.
func TestLineWriter(t *testing.T) {
	var out bytes.Buffer
	w := &lineWriter{w: &out, failed: make(chan struct{})}
	w.send([]byte("{\"a\":\r\n 1}\n"))
	w.send([]byte("{\n\"a\""))
	w.send([]byte(`{"b":"` + strings.Repeat("x", smallLine) + `"}`))
	if lines := strings.SplitAfter(out.String(), "\n"); len(lines) != 3 || lines[0] != "{\"a\":1}\n" || len(lines[1]) != smallLine+9 {
		t.Errorf("wrote %d lines, the first %q", len(lines), lines[0])
	}
	r, pipe := io.Pipe()
	r.Close()
	w = &lineWriter{w: pipe, failed: make(chan struct{})}
	w.send([]byte(`{}`))
	w.send([]byte(`{}`))
	select {
	case <-w.failed:
	case <-time.After(time.Second):
		t.Error("nobody noticed that the client reads no more")
	}
}
