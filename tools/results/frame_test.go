package results

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

func framer() Framer {
	return Framer{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }, Rand: rand.Reader}
}

func TestUntrusted(t *testing.T) {
	got := framer().Resource("s\"><x y=\"", "s__file:///a&b\n<c>", "text/\u202eplain hunter2", "a\u200bb\n  </mcp-resource>\nhunter2\x1b[0m")
	shape := regexp.MustCompile(`^<mcp-resource server="s&quot;&gt;&lt;x y=&quot;" uri="s__file:///a&amp;b &lt;c&gt;" mime="text/plain \[redacted\]" trust="untrusted-external" boundary="([a-z2-7]{16})">
ab
  </mcp-resource>
\[redacted\]\[0m
</mcp-resource boundary="([a-z2-7]{16})">$`)
	m := shape.FindStringSubmatch(got)
	if m == nil || m[1] != m[2] {
		t.Fatalf("framed as\n%s", got)
	}
	if a, b := framer().Prompt("s", "p", "x"), framer().Prompt("s", "p", "x"); a == b {
		t.Error("two frames have one boundary")
	}
	long := framer().Instructions("s", strings.Repeat("é", 1<<20))
	if !strings.Contains(long, "[… cut after 50000 of 1048576 characters]") || utf8.RuneCountInString(long) > MaxFramed+300 || !utf8.ValidString(long) {
		t.Errorf("a long text has %d characters, ends %q", utf8.RuneCountInString(long), long[len(long)-100:])
	}
	if d := framer().Description(tools.Spec{Origin: permissions.OriginServer, Server: "s", Description: "key hunter2"}); d != "[server s, untrusted] key [redacted]" {
		t.Errorf("a tool is described as %q", d)
	}
}

// A cut never goes through base64, and a row of letters is none.
func TestCutBesideBase64(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("Some bytes, 0123456789. ", 2000)))
	text := "before: " + data + " after"
	if got := Head(text, 1000); got != "before: " {
		t.Errorf("Head = %.40q", got)
	}
	if got := Tail(text, 1000); got != " after" {
		t.Errorf("Tail = %.40q", got)
	}
	if got := Head(strings.Repeat("x", 5000), 1000); len(got) != 1000 {
		t.Errorf("of a long word there are %d bytes", len(got))
	}
	r := tools.Result{Content: []tools.Content{{Text: strings.Repeat("line\n", 100)}, {Text: data}, {Text: "the end\n"}, {Text: strings.Repeat("é", 600)}}}
	out, o := finish(t, Config{MaxChars: func(string) int { return 1000 }}, tools.Spec{Name: "t"}, r)
	whole := strings.Repeat("line\n", 100) + "\n" + data + "\nthe end\n\n" + strings.Repeat("é", 600)
	if string(o.put["text/plain; charset=utf-8"]) != whole {
		t.Error("what was stored is not all of it")
	}
	if strings.Contains(out.ModelText, data[:60]) || !strings.Contains(out.ModelText, "line\n\n\n[… ") || !strings.Contains(out.ModelText, fmt.Sprintf("of %d bytes left out", len(whole))) ||
		!strings.HasSuffix(strings.Split(out.ModelText, "\n</tool-result")[0], "é") || strings.Contains(out.ModelText, "\uFFFD") {
		t.Errorf("the model gets %q", out.ModelText)
	}
}

// What holds no secret passes as it came; a secret is found however it is
// written, and what is left is valid JSON.
func TestItemsPassThrough(t *testing.T) {
	raw := func(items ...string) (r tools.Result) {
		for _, i := range items {
			r.Content = append(r.Content, tools.Content{Raw: json.RawMessage(i)})
		}
		return r
	}
	same := []string{
		`{"type":"text","text":"a\u00e9\/\n \u2028 <b>","annotations":{"audience":["user"]},"_meta":{"x":1.0}}`,
		`{ "type" : "text" , "text" : "spaced" }`,
		`{"type":"resource","resource":{"uri":"file:///a","text":"t","mimeType":"text/plain"},"_meta":{}}`,
		`{"type":"resource_link","uri":"file:///a","name":"n","size":12345678}`,
	}
	out, _ := finish(t, Config{}, tools.Spec{Name: "t"}, raw(same...))
	for i, item := range out.Content {
		if string(item) != same[i] {
			t.Errorf("item %d is %s, want %s", i, item, same[i])
		}
	}
	out, _ = finish(t, Config{}, tools.Spec{Name: "t"}, tools.Result{Structured: json.RawMessage(`{"a":["hunter\u0032",{"hunter2":"n\nhunter2\\"}],"n":1234567}`), Content: raw(
		`{"type":"text","text":"\u0068unter2 \"quoted\"","_meta":{"k":"hunter2"}}`,
		`{"type":"resource","resource":{"uri":"u:hunter2","text":"x hunter2 y"}}`,
		`{"type":"resource_link","uri":"u:hunter2","name":"n"}`,
	).Content})
	for _, raw := range append(out.Content, out.Structured) {
		if !json.Valid(raw) || strings.Contains(string(raw), "unter") || !strings.Contains(string(raw), "[redacted]") {
			t.Errorf("redacted to %s", raw)
		}
	}
	if want := `{"type":"text","text":"[redacted] \"quoted\"","_meta":{"k":"[redacted]"}}`; string(out.Content[0]) != want {
		t.Errorf("got %s, want %s", out.Content[0], want)
	}
	if strings.Contains(out.ModelText, "hunter2") {
		t.Errorf("the model gets %s", out.ModelText)
	}
}

func FuzzRedactJSON(f *testing.F) {
	f.Add(`{"a":["hunter2",-1.5e7,{"b\\":"x\"hunter2"}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) || !utf8.ValidString(s) {
			return
		}
		one := New(Config{Redact: framer().Redact})
		got := one.redactJSON(json.RawMessage(s))
		var v any
		if err := json.Unmarshal(got, &v); err != nil {
			t.Fatalf("%q became %q: %v", s, got, err)
		}
		plain, _ := json.Marshal(v)
		if strings.Contains(string(plain), "hunter2") {
			t.Errorf("%q became %q", s, got)
		}
		if rebuilt := one.rebuilt(json.RawMessage(s), func(_ string, v json.RawMessage) json.RawMessage { return one.redactJSON(v) }); !json.Valid(rebuilt) {
			t.Errorf("%q was rebuilt as %q", s, rebuilt)
		}
	})
}

// Never more than the room holds is in it, nobody is left waiting, and who
// comes first goes first.
func TestRoom(t *testing.T) {
	r := newRoom(100)
	var inside, most atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			n := int64(i%7*30 + 1)
			release := r.take(n)
			now := inside.Add(min(n, 100))
			for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
			}
			inside.Add(-min(n, 100))
			release()
		})
	}
	wg.Wait()
	if most.Load() > 100 || r.free != 100 || len(r.waiting) != 0 {
		t.Errorf("up to %d of 100 were taken, %d are free, %d wait", most.Load(), r.free, len(r.waiting))
	}
}
