package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"
)

// A request is one line, whatever is in it, and says what it was given.
func TestRequestLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, args, want string }{
		{"plain \"\\<é\n", `{"a":"<b>\n"}`, `{"a":"<b>\n"}`},
		{"n", "{\r\n\"a\" : [1,\n2]}", `{"a":[1,2]}`},
		{"n", `{"a":1.0e5, "a":2}`, `{"a":1.0e5, "a":2}`},
	} {
		line, err := requestLine(7, "tools/call", map[string]any{"name": tt.name, "arguments": json.RawMessage(tt.args), "_meta": map[string]any{"progressToken": int64(7)}})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			ID     int
			Params struct {
				Name      string
				Arguments json.RawMessage
				Meta      map[string]any `json:"_meta"`
			}
		}
		if err := json.Unmarshal(line, &got); err != nil || strings.Count(string(line), "\n") != 1 || strings.Contains(string(line), "\r") {
			t.Errorf("the line is %q: %v", line, err)
		}
		if got.ID != 7 || got.Params.Name != tt.name || string(got.Params.Arguments) != tt.want || got.Params.Meta["progressToken"] != 7.0 {
			t.Errorf("%s %s is sent as %s", tt.name, tt.args, line)
		}
	}
	if line, err := requestLine(1, "m", map[string]any{"arguments": json.RawMessage(`{"a":`)}); err == nil {
		t.Errorf("broken arguments are sent as %s", line)
	}
}

// Lines that wait are put together, none is cut or lost.
func TestJoinedLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", outboxChunk)
	lines := [][]byte{[]byte("a\n"), []byte("b\n"), []byte(long + "\n"), []byte("c\n"), []byte(long[:outboxChunk-3] + "\n"), []byte("d\n")}
	var want, got strings.Builder
	for _, l := range lines {
		want.Write(l)
	}
	var part, buffer []byte
	writes := 0
	for rest := lines; len(rest) > 0; writes++ {
		part, rest, buffer = join(rest, buffer)
		got.Write(part)
	}
	if got.String() != want.String() || writes != 4 {
		t.Errorf("%d bytes in %d writes, want %d in 4", got.Len(), writes, want.Len())
	}
}
