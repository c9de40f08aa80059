package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func questionFrom(t *testing.T, text string) question {
	t.Helper()
	q := question{Deadline: time.Now().Add(time.Minute)}
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		t.Fatal(err)
	}
	return q
}

// TestCallDialog: nothing but a whole word allows, and only what is offered.
func TestCallDialog(t *testing.T) {
	const full = `{"kind":"call","tool":"t","choices":["once","session","always","rule","deny","stop"],"proposed_rules":["R:./a","R:./b/**"]}`
	const single = `{"kind":"call","tool":"t","choices":["once","deny","stop"],"proposed_rules":["R:./a"]}`
	long := "deny " + strings.Repeat("x", 501)
	for _, c := range []struct {
		question, line string
		want           *answer
	}{
		{full, "once", &answer{Decision: "once"}},
		{full, "  ONCE  ", &answer{Decision: "once"}},
		{full, "always", &answer{Decision: "always"}},
		{full, "rule 2", &answer{Decision: "always", Rule: "R:./b/**"}},
		{full, "deny", &answer{Decision: "deny"}},
		{full, "no", &answer{Decision: "deny"}},
		{full, "deny  not this one ", &answer{Decision: "deny", Reason: "not this one"}},
		{full, "", nil}, {full, "y", nil}, {full, "yes", nil}, {full, "o", nil}, {full, "once more", nil}, {full, "always, please", nil},
		{full, "session", nil}, {full, "stop", nil}, {full, "rule", nil}, {full, "rule 0", nil}, {full, "rule 3", nil}, {full, "rule -1", nil}, {full, "accept", nil},
		{full, long, nil},
		{single, "once", &answer{Decision: "once"}}, {single, "always", nil}, {single, "rule 1", nil}, {single, "no", &answer{Decision: "deny"}},
		{`{"kind":"call","tool":"t","choices":["deny"]}`, "once", nil},
	} {
		d, why := dialogFor(questionFrom(t, c.question))
		if d == nil {
			t.Fatal(why)
		}
		got, say := d.hear(c.line)
		if !reflect.DeepEqual(got, c.want) || got == nil && say == "" {
			t.Errorf("%q is %v (%s), want %v", c.line, got, say, c.want)
		}
	}
}

// TestQuestionHidesNothing: whatever a question holds, what is shown is plain
// text.
func TestQuestionHidesNothing(t *testing.T) {
	evil := "\x1b[2Kx\u202e\u200b\u0007\r\u009b1A"
	in := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	q := questionFrom(t, in(map[string]any{"kind": "call", "tool": evil, "title": evil, "reason": evil, "rule": evil, "server": evil, "diff": "-" + evil + "\n+b",
		"definition_diff": evil, "arguments": map[string]any{evil: evil}, "command": map[string]any{"text": "a\n" + evil + "b", "cwd": evil, "marks": []any{map[string]int{"start": 2, "end": 4}, map[string]int{"start": 90, "end": -1}}},
		"resolved": []any{map[string]string{"path": evil, "access": "W"}}, "proposed_rules": []string{evil}, "choices": []string{"once", "rule"}}))
	form := questionFrom(t, in(map[string]any{"kind": "elicitation", "server": evil, "arguments": map[string]any{"message": evil, "url": "https://example.com/\u202e\u200b"},
		"schema": map[string]any{"properties": map[string]any{}}}))
	fields := questionFrom(t, in(map[string]any{"kind": "elicitation", "server": evil, "arguments": map[string]any{"message": evil},
		"schema": map[string]any{"properties": map[string]any{evil: map[string]any{"type": "string", "title": evil, "description": evil, "default": evil, "enum": []string{evil}}}}}))
	for _, q := range []question{q, form, fields} {
		d, why := dialogFor(q)
		if d == nil {
			t.Fatal(why)
		}
		all := d.show()
		for _, line := range []string{"what", "fill", "1"} {
			_, say := d.hear(line)
			all += say
		}
		for _, r := range all {
			if r != '\n' && (r < ' ' || r > 0x7e) {
				t.Errorf("shows %q in\n%s", r, all)
				break
			}
		}
		if !strings.Contains(all, `\x1b[2Kx`) && !strings.Contains(all, `\u001b[2Kx`) {
			t.Errorf("hides the escape:\n%s", all)
		}
	}
}

// TestTooLongToAllow: what a terminal cannot show in full is left to the page.
func TestTooLongToAllow(t *testing.T) {
	q := question{Kind: "call", Choices: []string{"once"}, Arguments: json.RawMessage(`"` + strings.Repeat("x", maxShown) + `"`)}
	if d, why := dialogFor(q); d != nil || why == "" {
		t.Errorf("it is put here: %v", why)
	}
	for kind, q := range map[string]question{
		"sampling": {Kind: "sampling"}, "news": {Kind: "something_new"},
		"nested form": {Kind: "elicitation", Arguments: json.RawMessage(`{}`), Schema: json.RawMessage(`{"properties":{"a":{"type":"object"}}}`)},
		"odd schema":  {Kind: "elicitation", Arguments: json.RawMessage(`{}`), Schema: json.RawMessage(`{"properties":[1]}`)},
		"odd address": {Kind: "elicitation", Arguments: json.RawMessage(`{"message":"m","url":"javascript:alert(1)"}`)},
		"bad address": {Kind: "elicitation", Arguments: json.RawMessage(`{"message":"m","url":"https://a\u001b.example"}`)},
		"no message":  {Kind: "elicitation", Arguments: json.RawMessage(`7`)},
	} {
		if d, why := dialogFor(q); d != nil || why == "" {
			t.Errorf("%s is put here", kind)
		}
	}
}

func TestMarks(t *testing.T) {
	q := questionFrom(t, `{"command":{"text":"cat é | wc\necho $X","marks":[{"start":7,"end":8},{"start":17,"end":19}]}}`)
	want := "cat é | wc\n      ^\necho $X\n     ^^"
	if got := (callDialog{q}).marked(); got != want {
		t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
}

func TestForm(t *testing.T) {
	const schema = `{"type":"object","required":["name","color"],"properties":{
		"name":{"type":"string","minLength":2,"maxLength":5},
		"age":{"type":"integer","minimum":1,"maximum":150},
		"sure":{"type":"boolean","default":true},
		"color":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]},
		"sizes":{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["s","m","l"]}}}}`
	q := question{Kind: "elicitation", Server: "s", Arguments: json.RawMessage(`{"message":"m"}`), Schema: json.RawMessage(schema), Deadline: time.Now().Add(time.Minute)}
	for _, c := range []struct {
		lines string // separated by |
		want  string // "" for no answer
	}{
		{"fill|Ann|30||2|1,3|send", `{accept   map[age:30 color:g name:Ann sizes:[s l] sure:true]}`},
		{"fill|A|Ann|x|1.5|0||no|red|r||send", `{accept   map[color:r name:Ann sure:false]}`},
		{"fill|Ann||||g|send", ``}, // color is needed
		{"fill|Annette|Ann||y|g|1,2,3|1|send", `{accept   map[color:g name:Ann sizes:[s] sure:true]}`},
		{"fill|Ann|/decline", `{decline   map[]}`},
		{"fill|/cancel", `{cancel   map[]}`},
		{"decline", `{decline   map[]}`},
		{"cancel", `{cancel   map[]}`},
		{"accept", ``}, {"send", ``}, {"", ``},
		{"fill|Ann|||g||decline", `{decline   map[]}`},
		{"fill|Ann|||g||fill|Bob|||r||send", `{accept   map[color:r name:Bob sure:true]}`},
	} {
		d, why := dialogFor(q)
		if d == nil {
			t.Fatal(why)
		}
		var got *answer
		for line := range strings.SplitSeq(c.lines, "|") {
			if got != nil {
				t.Errorf("%s: is over before %q", c.lines, line)
			}
			var say string
			if got, say = d.hear(line); got == nil && say == "" {
				t.Errorf("%s: says nothing to %q", c.lines, line)
			}
		}
		text := ""
		if got != nil {
			text = fmt.Sprint(*got)
		}
		if text != c.want {
			t.Errorf("%s: answers %s, want %s", c.lines, text, c.want)
		}
	}
}

func TestAddressToOpen(t *testing.T) {
	q := question{Kind: "elicitation", Server: "s", Arguments: json.RawMessage(`{"mode":"url","message":"Sign in","url":"https://example.com/in"}`)}
	d, _ := dialogFor(q)
	if text := d.show(); !strings.Contains(text, "https://example.com/in") || strings.Contains(text, "fill") {
		t.Errorf("shows %s", text)
	}
	got, _ := d.hear("accept")
	raw, err := json.Marshal(got)
	if err != nil || string(raw) != `{"decision":"accept"}` {
		t.Errorf("answers %s, %v", raw, err)
	}
}
