package config

import (
	"strings"
	"testing"
)

// p makes a path: all strings but the numbers.
func p(dotted string) []any {
	var path []any
	for s := range strings.SplitSeq(dotted, ".") {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			n := 0
			for _, c := range s {
				n = n*10 + int(c-'0')
			}
			path = append(path, n)
			continue
		}
		path = append(path, s)
	}
	return path
}

type unsetMark struct{}
type addMark struct{}

func change(t *testing.T, text string, path []any, v any) (string, error) {
	t.Helper()
	d, err := parse([]byte(text))
	if err != nil {
		t.Fatalf("parse(%q): %v", text, err)
	}
	var out []byte
	switch v.(type) {
	case unsetMark:
		out, err = d.unset(path)
	case addMark:
		out, err = d.addTable(path)
	default:
		out, err = d.set(path, v)
	}
	if string(d.data) != text {
		t.Errorf("the text given was changed")
	}
	return string(out), err
}

func TestEdit(t *testing.T) {
	unset, add := unsetMark{}, addMark{}
	tests := []struct {
		name, text, path string
		value            any
		want             string
	}{
		// Replacing.
		{"number", "[server]\nport = 1 # note\n", "server.port", int64(2), "[server]\nport = 2 # note\n"},
		{"same number, other writing", "[server]\nport=0x10\n", "server.port", int64(16), "[server]\nport=0x10\n"},
		{"spacing", "[ server ]\n  port   =   1\n", "server.port", int64(2), "[ server ]\n  port   =   2\n"},
		{"crlf", "[server]\r\nport = 1\r\n# end", "server.port", int64(2), "[server]\r\nport = 2\r\n# end"},
		{"bom", "\xef\xbb\xbfa = 1", "a", int64(2), "\xef\xbb\xbfa = 2"},
		{"literal quotes", "a = 'x'\n", "a", "y\\z", "a = 'y\\z'\n"},
		{"literal cannot", "a = 'x'\n", "a", "y'z", "a = \"y'z\"\n"},
		{"escapes", "a = \"x\"\n", "a", "q\" \\ \n\t\x01\x7fü", "a = \"q\\\" \\\\ \\n\\t\\u0001\\u007Fü\"\n"},
		{"multi-line string", "a = \"\"\"\nx\n\"\"\" # n\nb = 1\n", "a", "z", "a = \"z\" # n\nb = 1\n"},
		{"quoted key", "[providers.\"my.work\"]\n\"api key\" = \"x\"\n", "providers", map[string]any{"my.work": map[string]any{"api key": "y"}}, "[providers.\"my.work\"]\n\"api key\" = \"y\"\n"},
		{"dotted", "server.port = 1\nserver . ui_origin = \"x\"\n", "server.ui_origin", "y", "server.port = 1\nserver . ui_origin = \"y\"\n"},
		{"inline", "server = { port = 1, x = 2 } # n\n", "server.port", int64(3), "server = { port = 3, x = 2 } # n\n"},
		{"other type", "a = 1\n", "a", "x", "a = \"x\"\n"},
		{"table to value", "x = 1\n[a]\nb = 1\n\n[c]\n", "a", "v", "x = 1\na = \"v\"\n[c]\n"},
		// New keys.
		{"end of table", "[a]\nx = 1\n\n# about b\n[b]\ny = 1\n", "a.z", true, "[a]\nx = 1\nz = true\n\n# about b\n[b]\ny = 1\n"},
		{"empty table", "[a]\n[b]\n", "a.z", true, "[a]\nz = true\n[b]\n"},
		{"indent and equals", "[a]\n\tx=1\n", "a.z", true, "[a]\n\tx=1\n\tz=true\n"},
		{"no final newline", "[a]\nx = 1", "a.z", true, "[a]\nx = 1\nz = true"},
		{"crlf key", "[a]\r\nx = 1\r\n", "a.z", true, "[a]\r\nx = 1\r\nz = true\r\n"},
		{"root key", "# top\n\n# about a\n[a]\n", "k", int64(1), "# top\n\nk = 1\n\n# about a\n[a]\n"},
		{"root key among keys", "# top\nb = 2\n\n[a]\n", "k", int64(1), "# top\nb = 2\nk = 1\n\n[a]\n"},
		{"empty file", "", "server.port", int64(1), "[server]\nport = 1\n"},
		{"only a comment", "# hi", "server.port", int64(1), "# hi\n\n[server]\nport = 1"},
		{"only a mark", "\xef\xbb\xbf", "a", int64(1), "\xef\xbb\xbfa = 1\n"},
		{"new table", "[a]\nx = 1\n", "b.y", int64(1), "[a]\nx = 1\n\n[b]\ny = 1\n"},
		{"new table after blank", "[a]\nx = 1\n\n", "b.y", int64(1), "[a]\nx = 1\n\n[b]\ny = 1\n"},
		{"new table no newline", "[a]\nx = 1", "b.y", int64(1), "[a]\nx = 1\n\n[b]\ny = 1"},
		{"new table crlf", "[a]\r\nx = 1\r\n", "b.y", int64(1), "[a]\r\nx = 1\r\n\r\n[b]\r\ny = 1\r\n"},
		{"new sub-table", "[p]\n[p.a]\nx = 1\n", "p.b.c", "v", "[p]\n[p.a]\nx = 1\n\n[p.b]\nc = \"v\"\n"},
		{"quoted new key", "", "p.my work.x", "v", "[p.\"my work\"]\nx = \"v\"\n"},
		{"implied table", "[p.a]\nx = 1\n", "p.b", "v", "[p.a]\nx = 1\n\n[p]\nb = \"v\"\n"},
		{"dotted table", "p.a = 1\n# c\nq = 2\n", "p.b", "v", "p.a = 1\np.b = \"v\"\n# c\nq = 2\n"},
		{"dotted below header", "[s]\nx.y.z = 1\nw = 2\n", "s.x.v", "v", "[s]\nx.y.z = 1\nx.v = \"v\"\nw = 2\n"},
		{"dotted deep", "p.a.b = 1\n", "p.c.d", "v", "p.a.b = 1\np.c.d = \"v\"\n"},
		{"inline new", "s = { a = 1 }\n", "s.b", "v", "s = { a = 1, b = \"v\" }\n"},
		{"inline tight", "s = {a=1}\n", "s.b", "v", "s = {a=1, b = \"v\"}\n"},
		{"inline empty", "s = {}\n", "s.b", "v", "s = { b = \"v\" }\n"},
		{"inline deep", "s = { a.b = 1 }\n", "s.a.c", "v", "s = { a.b = 1, a.c = \"v\" }\n"},
		{"inline wide", "s = {\n  a = 1, # one\n}\n", "s.b", "v", "s = {\n  a = 1, # one\n  b = \"v\",\n}\n"},
		{"inline wide comment", "s = {\n  a = 1 # one\n}\n", "s.b", "v", "s = {\n  a = 1, # one\n  b = \"v\"\n}\n"},
		// Arrays.
		{"add to array", "a = [\"x\"]\n", "a", []any{"x", "y"}, "a = [\"x\", \"y\"]\n"},
		{"array padding", "a = [ 'x' ]\n", "a", []any{"x", "y"}, "a = [ 'x', \"y\" ]\n"},
		{"empty array", "a = []\n", "a", []any{"x"}, "a = [\"x\"]\n"},
		{"clear array", "a = [ 'x', 'y' ]\n", "a", []any{}, "a = [ ]\n"},
		{"first gone", "a = ['x', 'y', 'z']\n", "a", []any{"y", "z"}, "a = ['y', 'z']\n"},
		{"wide add", "a = [\n  \"x\", # docs\n  \"y\",\n]\n", "a", []any{"x", "y", "z"}, "a = [\n  \"x\", # docs\n  \"y\",\n  \"z\",\n]\n"},
		{"wide middle", "a = [\r\n\t\"x\", # docs\r\n\t\"y\" # last\r\n]\r\n", "a", []any{"x", "m", "y"}, "a = [\r\n\t\"x\", # docs\r\n\t\"m\",\r\n\t\"y\" # last\r\n]\r\n"},
		{"wide last", "a = [\n  \"x\", # docs\n  \"y\" # last\n]\n", "a", []any{"x", "y", "z"}, "a = [\n  \"x\", # docs\n  \"y\", # last\n  \"z\"\n]\n"},
		{"wide remove", "a = [\n  # about x\n  \"x\", # docs\n  \"y\",\n]\n", "a", []any{"y"}, "a = [\n  # about x\n  \"y\",\n]\n"},
		{"wide remove last", "a = [\n  \"x\", # docs\n  \"y\"\n]\n", "a", []any{"x"}, "a = [\n  \"x\" # docs\n]\n"},
		{"odd lines", "a = [\"x\", # c\n  \"y\" ]\n", "a", []any{"x"}, "a = [\"x\" # c\n ]\n"},
		{"empty wide", "a = [\n]\n", "a", []any{"x"}, "a = [\n    \"x\",\n]\n"},
		{"comma in comment", "a = [\"x\" # a, b\n, \"y\"]\n", "a", []any{"x"}, "a = [\"x\" # a, b\n]\n"},
		// Removing.
		{"unset", "[a]\n# about x\nx = 1 # n\ny = 2\n", "a.x", unset, "[a]\n# about x\ny = 2\n"},
		{"unset nothing", "[a]\nx = 1\n", "a.q", unset, "[a]\nx = 1\n"},
		{"unset last line", "[a]\nx = 1\ny = 2", "a.y", unset, "[a]\nx = 1"},
		{"unset many lines", "a = [\n1,\n2,\n]\nb = 1\n", "a", unset, "b = 1\n"},
		{"unset inline first", "s = { a = 1, b = 2 }\n", "s.a", unset, "s = { b = 2 }\n"},
		{"unset inline last", "s = { a = 1, b = 2 }\n", "s.b", unset, "s = { a = 1 }\n"},
		{"unset inline only", "s = {a=1}\n", "s.a", unset, "s = {}\n"},
		{"unset inline beside the bracket", "s = {a=1, b=2,\n  c=3}\n", "s.a", unset, "s = {b=2,\n  c=3}\n"},
		{"unset inline below the bracket", "s = {\n  a=1, b=2,\n  c=3}\n", "s.a", unset, "s = {\n  b=2,\n  c=3}\n"},
		{"unset inline dotted", "s = { a.b = 1, c = 2, a.d = 3 }\n", "s.a", unset, "s = { c = 2 }\n"},
		{"unset dotted", "p.a = 1\np.b = 2\nq = 1\n", "p", unset, "q = 1\n"},
		{"remove table", "[a]\nx = 1\n\n[b]\n# in b\ny = 1\n\n# about c\n[c]\n", "b", unset, "[a]\nx = 1\n\n# about c\n[c]\n"},
		{"remove last table", "[a]\nx = 1\n\n[b]\ny = 1\n", "b", unset, "[a]\nx = 1\n"},
		{"remove last table no newline", "[a]\nx = 1\n\n[b]\ny = 1", "b", unset, "[a]\nx = 1"},
		{"remove only table", "[b]\ny = 1\n", "b", unset, ""},
		{"remove with sub-tables", "[b.c]\nx = 1\n[a]\n[b]\ny = 1\n[b.d.e]\n", "b", unset, "[a]\n"},
		{"commented-out keys go along", "[b]\ny = 1\n# z = 2\n\n[a]\n", "b", unset, "[a]\n"},
		// Arrays of tables.
		{"new element", "[[m.s]]\nname = \"a\"\n[m.s.env]\nK = \"v\"\n\n[z]\n", "m.s.1.name", "b", "[[m.s]]\nname = \"a\"\n[m.s.env]\nK = \"v\"\n\n[[m.s]]\nname = \"b\"\n\n[z]\n"},
		{"first element", "[m]\nx = 1\n", "m.s.0", map[string]any{"name": "a", "args": []any{"x"}, "env": map[string]any{"K": "v"}}, "[m]\nx = 1\n\n[[m.s]]\nname = \"a\"\nargs = [\"x\"]\n\n[m.s.env]\nK = \"v\"\n"},
		{"key of element", "[[s]]\nname = \"a\"\n\n[[s]]\nname = \"b\"\n", "s.0.x", "v", "[[s]]\nname = \"a\"\nx = \"v\"\n\n[[s]]\nname = \"b\"\n"},
		{"table of element", "[[s]]\nname = \"a\"\n\n[[s]]\nname = \"b\"\n", "s.0.env.K", "v", "[[s]]\nname = \"a\"\n\n[s.env]\nK = \"v\"\n\n[[s]]\nname = \"b\"\n"},
		{"remove element", "[[s]]\nname = \"a\"\n[s.env]\nK = 1\n\n[[s]]\nname = \"b\"\n", "s.0", unset, "[[s]]\nname = \"b\"\n"},
		{"remove only element", "x = 1\n\n[[s]]\nname = \"a\"\n", "s.0", unset, "x = 1\n"},
		{"inline elements", "s = [{ name = \"a\" }]\n", "s.1.name", "b", "s = [{ name = \"a\" }, { name = \"b\" }]\n"},
		{"key of inline element", "s = [{ name = \"a\" }]\n", "s.0.x", "b", "s = [{ name = \"a\", x = \"b\" }]\n"},
		{"table of inline element", "s = [\n  { name = \"a\", env = {} }, # one\n]\n", "s.0.env.K", "b", "s = [\n  { name = \"a\", env = { K = \"b\" } }, # one\n]\n"},
		{"remove inline element", "s = [{ name = \"a\" }, { name = \"b\" }]\n", "s.0", unset, "s = [{ name = \"b\" }]\n"},
		{"first element of nothing", "", "m.s.0", map[string]any{"name": "a"}, "[[m.s]]\nname = \"a\"\n"},
		{"first element of nothing dotted", "m.x.y = 1\n", "m.s.t.0.name", "a", "m.x.y = 1\nm.s.t = [{ name = \"a\" }]\n"},
		{"first element of dotted", "m.x = 1\n", "m.s.0.name", "a", "m.x = 1\nm.s = [{ name = \"a\" }]\n"},
		// Tables.
		{"add table", "[a]\n", "p.x", add, "[a]\n\n[p.x]\n"},
		{"add table twice", "[p.x]\n", "p.x", add, "[p.x]\n"},
		{"add table inline", "p = { y = {} }\n", "p.x", add, "p = { y = {}, x = {} }\n"},
		{"set table", "[t]\na = 1\nb = 2\n", "t", map[string]any{"b": int64(3), "c": int64(4)}, "[t]\nb = 3\nc = 4\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := change(t, tt.text, p(tt.path), tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	tests := []struct {
		text, path string
		value      any
		want       string
	}{
		{"mcp.servers = 3\n", "mcp.servers.0.name", "x", "line 1, column 1: mcp.servers is a whole number"},
		{"\n[a]\nb = \"x\"\n", "a.b.c", "x", "line 3, column 1: a.b is text"},
		{"a = [1]\n", "a.5", int64(1), "has 1 entries"},
		{"a = 1\n", "b", "\xff", "UTF-8"},
	}
	for _, tt := range tests {
		got, err := change(t, tt.text, p(tt.path), tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("set %s in %q = %q, %v, want %q", tt.path, tt.text, got, err, tt.want)
		}
	}
}
