package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

func TestTables(t *testing.T) {
	wide := table{head: []string{"NAME", "STATE", "ABOUT"}}
	wide.add("a", "ready", strings.Repeat("word ", 30))
	wide.add("日本", "off", "")
	var b bytes.Buffer
	wide.write(&b, 60)
	want := "NAME  STATE  ABOUT\n" +
		"a     ready  word word word word word word word word word w…\n" +
		"日本  off\n"
	if got := b.String(); got != want {
		t.Errorf("prints\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	narrow := table{head: []string{"NAME", "STATE", "ABOUT"}}
	long := strings.Repeat("n", 64)
	narrow.add(long, "ready", strings.Repeat("x", 200))
	narrow.write(&b, 80)
	lines := strings.Split(b.String(), "\n")
	if !strings.HasPrefix(lines[1], long+"  ready") || !strings.HasPrefix(lines[2], "    xxx") || columns(lines[2]) != 80 {
		t.Errorf("prints\n%s", b.String())
	}
}

func TestNearest(t *testing.T) {
	known := []string{"read_file", "edit_file", "mcp_dummy_mcp_echo", "mcp_other_echo", "execute_command", "read_file"}
	for name, want := range map[string][]string{
		"reed_file": {"read_file"}, "READ_FILE": {"read_file"}, "readfile": {"read_file"},
		"echo": {"mcp_dummy_mcp_echo", "mcp_other_echo"}, "execute": {"execute_command"},
		"": nil, "zzzzzz": nil, strings.Repeat("read_file", 1000): nil,
	} {
		if got := nearest(name, known); !reflect.DeepEqual(got, want) {
			t.Errorf("nearest(%.20q) = %v, want %v", name, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\r\nb\tc", "\x1b]0;x\x07", "\u202e\u2066", "\ufffd\xff", "e\u0301", "\U0001f600\U000e0041", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range oneLine(s) + words(s) + strings.NewReplacer("\n", "", "\t", "").Replace(manyLines(s)) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q shows %q", s, r)
			}
		}
		raw, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			t.Fatal(err) // bytes that are no UTF-8 are replaced, never refused
		}
		text, err := compact(raw)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if json.Unmarshal(raw, &want) != nil || json.Unmarshal([]byte(text), &got) != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s became %s", raw, text)
		}
		for _, r := range text {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q shows %q", text, r)
			}
		}
		if n := columns(cut(oneLine(s), 20)); n > 20 {
			t.Fatalf("cut to %d", n)
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add("id: 1\nevent: hello\ndata: {}\n\n: beat\n\nevent: x\ndata: a\ndata: b\n\n")
	f.Add("data:\n\nevent\n\nevent: y\n")
	f.Fuzz(func(t *testing.T, s string) {
		_ = readEvents(strings.NewReader(s), func(kind string, _ []byte) {
			if kind == "" {
				t.Fatal("an event without a kind")
			}
		})
	})
}

func TestEvents(t *testing.T) {
	var got []string
	in := "id: 1\nevent: hello\ndata: {\"a\":1}\n\n: beat\n\ndata: lost\n\nevent: x\ndata: a\ndata: b\n\nevent: half\ndata: z"
	if err := readEvents(strings.NewReader(in), func(kind string, data []byte) { got = append(got, kind+" "+string(data)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{`hello {"a":1}`, "x a\nb"}; !reflect.DeepEqual(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// TestUnseen: what was shown of a command's output while it ran is not shown
// again, and where the two do not fit together nothing is lost.
func TestUnseen(t *testing.T) {
	out := func(stdout, stderr string) outcome {
		raw, _ := json.Marshal(map[string]string{"stdout": stdout, "stderr": stderr})
		return outcome{Structured: raw}
	}
	for _, c := range []struct{ stdout, stderr, shownOut, shownErr, want string }{
		{"one\ntwo\n", "", "one\n", "", "two\n[exit]"},
		{"one\ntwo", "", "one\n", "", "two\n[exit]"},
		{"one\n", "err\n", "one\n", "err\n", "[exit]"},
		{"one", "", "one", "", "\n[exit]"},
		{"one\n", "err\n", "", "err\n", "one\n[exit]"},
		{"…cut…\n", "", "one\n", "", "\n[the whole output]\n…cut…\n[exit]"},
	} {
		f := &follower{printed: map[string][]piece{}}
		for stream, text := range map[string]string{"stdout": c.shownOut, "stderr": c.shownErr} {
			if text != "" {
				f.printed[stream] = []piece{{stream, text}}
			}
		}
		text := streams(c.stdout, c.stderr) + "[exit]"
		if got := f.unseen(out(c.stdout, c.stderr), text); got != c.want {
			t.Errorf("%+v leaves %q", c, got)
		}
	}
}
