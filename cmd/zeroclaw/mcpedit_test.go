package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

const testEntry = "{\n  \"command\": \"/opt/zeroclaw\",\n  \"args\": [\"mcp\", \"--agent\", \"assistant\"]\n}"

const entered = `"zeroclaw": {
      "command": "/opt/zeroclaw",
      "args": ["mcp", "--agent", "assistant"]
    }`

func TestEnterServer(t *testing.T) {
	whole := "{\n  \"mcpServers\": {\n    " + entered + "\n  }\n}\n"
	tests := []struct{ name, file, want string }{
		{"empty file", "", whole},
		{"blank file", " \n\n", whole},
		{"empty object", "{}", strings.TrimSuffix(whole, "\n")},
		{"byte order mark", "\xef\xbb\xbf{}\n", "\xef\xbb\xbf" + whole},
		{"byte order mark alone", "\xef\xbb\xbf", "\xef\xbb\xbf" + whole},
		{"other settings", "{\n  \"theme\": \"dark\"\n}\n",
			"{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    " + entered + "\n  }\n}\n"},
		{"other servers", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"},\n    " + entered + "\n  }\n}\n"},
		{"empty section", "{\n  \"mcpServers\": {}\n}\n", whole},
		{"no final line end", "{\n  \"x\": 1\n}", "{\n  \"x\": 1,\n  \"mcpServers\": {\n    " + entered + "\n  }\n}"},
		{"comments", "// mine\n{\n  /* a */ \"x\": 1, // one\n  \"y\": 2 // two\n  // end\n}\n// after\n",
			"// mine\n{\n  /* a */ \"x\": 1, // one\n  \"y\": 2, // two\n  \"mcpServers\": {\n    " + entered + "\n  }\n  // end\n}\n// after\n"},
		{"comment at the end", "{\n  \"x\": 1\n}\n// mine", "{\n  \"x\": 1,\n  \"mcpServers\": {\n    " + entered + "\n  }\n}\n// mine"},
		{"comma too many", "{\n  \"x\": 1, // one\n}\n",
			"{\n  \"x\": 1, // one\n  \"mcpServers\": {\n    " + entered + "\n  },\n}\n"},
		{"comma apart", "{\n  \"x\": 1 /* a */ , /* b */ // c\n}\n",
			"{\n  \"x\": 1 /* a */ , /* b */ // c\n  \"mcpServers\": {\n    " + entered + "\n  },\n}\n"},
		{"comment in an empty section", "{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    // none yet\n    " + entered + "\n  }\n}\n"},
		{"tabs", "{\n\t\"x\": 1\n}\n", strings.ReplaceAll("{\n  \"x\": 1,\n  \"mcpServers\": {\n    "+entered+"\n  }\n}\n", "  ", "\t")},
		{"four spaces", "{\n    \"mcpServers\": {\n        \"a\": {}\n    }\n}\n",
			"{\n    \"mcpServers\": {\n        \"a\": {},\n        \"zeroclaw\": {\n            \"command\": \"/opt/zeroclaw\",\n            \"args\": [\"mcp\", \"--agent\", \"assistant\"]\n        }\n    }\n}\n"},
		{"CRLF", "{\r\n  \"x\": 1 // one\r\n}\r\n", strings.ReplaceAll("{\n  \"x\": 1, // one\n  \"mcpServers\": {\n    "+entered+"\n  }\n}\n", "\n", "\r\n")},
		{"one line", `{"x": 1}`, `{"x": 1, "mcpServers": {"zeroclaw": {"command": "/opt/zeroclaw", "args": ["mcp", "--agent", "assistant"]}}}`},
		{"one dense line", `{"x":1}`, `{"x":1,"mcpServers":{"zeroclaw": {"command": "/opt/zeroclaw", "args": ["mcp", "--agent", "assistant"]}}}`},
		{"one line, empty section", `{"mcpServers": {}}`, `{"mcpServers": {"zeroclaw": {"command": "/opt/zeroclaw", "args": ["mcp", "--agent", "assistant"]}}}`},
		{"the same", whole, whole},
		{"the same with comments", strings.Replace(whole, "\"args\"", "// hi\n      \"args\"", 1), strings.Replace(whole, "\"args\"", "// hi\n      \"args\"", 1)},
		{"another program and settings of the user", "{\n  \"mcpServers\": {\n    \"zeroclaw\": {\n      \"command\": \"old\", // where\n      \"env\": {\"A\": \"b\"},\n      \"disabled\": true\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"zeroclaw\": {\n      \"command\": \"/opt/zeroclaw\", // where\n      \"env\": {\"A\": \"b\"},\n      \"disabled\": true,\n      \"args\": [\"mcp\", \"--agent\", \"assistant\"]\n    }\n  }\n}\n"},
		{"an address before", "{\n  \"mcpServers\": {\n    \"zeroclaw\": {\"url\": \"http://x\"}, \"b\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    " + entered + ", \"b\": {}\n  }\n}\n"},
		{"no server", "{\n  \"mcpServers\": {\n    \"zeroclaw\": null\n  }\n}\n", whole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := enterServer([]byte(tt.file), "mcpServers", "zeroclaw", json.RawMessage(testEntry))
			if err != nil || string(got) != tt.want {
				t.Fatalf("enterServer(%q) = %v\n%s\nwant\n%s", tt.file, err, got, tt.want)
			}
			again, err := enterServer(got, "mcpServers", "zeroclaw", json.RawMessage(testEntry))
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("once more = %v\n%s\nwant no change", err, again)
			}
		})
	}
}

func TestEnterServerRefuses(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"a list", "[]", "line 1, column 1: there is a list where an object belongs"},
		{"a text", "\n  \"x\"", "line 2, column 3: there is a text where an object belongs"},
		{"a list of servers", "{\n  \"mcpServers\": []\n}", `line 2, column 17: "mcpServers": there is a list where an object belongs`},
		{"no servers", `{"mcpServers": null}`, `line 1, column 16: "mcpServers": there is null where an object belongs`},
		{"cut off", "{\n  \"x\": 1,\n", "line 3, column 1: "},
		{"a comment alone", "// nothing\n", "line 2, column 1: "},
		{"no comma", "{\n  \"é\": 1 \"b\": 2\n}", "line 2, column 10: invalid character"},
		{"two documents", "{}\n{}", "line 2, column 1: invalid character"},
		{"the section twice", "{\"mcpServers\": {},\n \"mcpServers\": {}}", `line 2, column 2: "mcpServers" is there twice`},
		{"the server twice", `{"mcpServers": {"zeroclaw": {}, "zeroclaw": {}}}`, `"zeroclaw" is there twice`},
		{"UTF-16", "\xff\xfe{\x00}\x00", "line 1, column 1: it is not UTF-8"},
		{"Latin-1", "{\"a\": \"\xe9\"}", "line 1, column 8: it is not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := enterServer([]byte(tt.file), "mcpServers", "zeroclaw", json.RawMessage(testEntry))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("enterServer(%q) = %q, %v; want %q", tt.file, got, err, tt.want)
			}
		})
	}
}

// FuzzEnterServer: whatever a file holds, nothing in it is lost, and the server
// is in there once.
func FuzzEnterServer(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1,}`, "{ // x\n}", `{"mcpServers":{"a":{},"zeroclaw":{"env":{}}}}`, "{\r\n\t\"mcpServers\" : { /* x */ }\r\n}", `{"zeroclaw":[{"url":1}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := enterServer(file, "mcpServers", "zeroclaw", json.RawMessage(testEntry))
		if err != nil {
			return
		}
		before, after := stripped(t, file), stripped(t, got)
		servers, _ := after["mcpServers"].(map[string]any)
		server, _ := servers["zeroclaw"].(map[string]any)
		if server["command"] != "/opt/zeroclaw" {
			t.Fatalf("%q became %q without the server", file, got)
		}
		was, _ := before["mcpServers"].(map[string]any)
		for _, both := range [][2]map[string]any{{before, after}, {was, servers}} {
			for name, value := range both[0] {
				a, _ := json.Marshal(value)
				b, _ := json.Marshal(both[1][name])
				if name != "mcpServers" && name != "zeroclaw" && !bytes.Equal(a, b) {
					t.Fatalf("%q became %q: %q is lost", file, got, name)
				}
			}
		}
		for line := range bytes.Lines(file) {
			if at := bytes.Index(line, []byte("//")); at >= 0 && !bytes.Contains(got, bytes.TrimRight(line[at:], "\r\n")) && before["zeroclaw"] == nil && was["zeroclaw"] == nil {
				t.Fatalf("%q became %q: a comment is lost", file, got)
			}
		}
		if again, err := enterServer(got, "mcpServers", "zeroclaw", json.RawMessage(testEntry)); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q changes once more to %q, %v", got, again, err)
		}
	})
}

func stripped(t *testing.T, file []byte) map[string]any {
	file = bytes.TrimSpace(bytes.TrimPrefix(file, utf8BOM))
	if len(file) == 0 {
		return nil
	}
	v, err := hujson.Parse(file)
	if err != nil {
		t.Fatalf("%q does not parse: %v", file, err)
	}
	var out map[string]any
	if err := json.Unmarshal(standard(v), &out); err != nil {
		t.Fatalf("%q is no object: %v", file, err)
	}
	return out
}

func TestLineDiff(t *testing.T) {
	tests := []struct{ name, old, next, want string }{
		{"new", "", "{\n}\n", "+ {\n+ }\n"},
		{"in the middle", "a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nX\nf\ng\nh\n", "  b\n  c\n  d\n- e\n+ X\n  f\n  g\n  h\n"},
		{"line ends and a mark", "\xef\xbb\xbfa\r\nb\r\n", "\xef\xbb\xbfa\r\nx\r\nb\r\n", "  a\n+ x\n  b\n"},
		{"control characters", "", "\x1b[2J\n", "+ \\x1b[2J\n"},
	}
	for _, tt := range tests {
		if got := lineDiff(tt.old, tt.next); got != tt.want {
			t.Errorf("%s: lineDiff(%q, %q) =\n%s\nwant\n%s", tt.name, tt.old, tt.next, got, tt.want)
		}
	}
}
