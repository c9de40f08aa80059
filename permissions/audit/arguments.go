package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// contents are the arguments that hold what goes into a file. The record says
// how much that was, never what.
var contents = map[string]bool{"content": true, "old_text": true, "new_text": true}

// redact takes secrets out of an entry, text by text: what is redacted across
// the texts of a line would leave no valid line.
func (l *Log) redact(e *Entry) {
	for _, text := range []*string{
		&e.Session, &e.Agent, &e.Client, &e.App, &e.Call, &e.Tool, &e.Verdict, &e.Rule, &e.Reason, &e.AnsweredBy, &e.Answer, &e.Outcome,
	} {
		*text = l.config.Redact(*text)
	}
	e.Arguments = l.shorten(e.Arguments)
}

// shorten redacts the arguments, cuts long strings in them and leaves file
// contents out.
func (l *Log) shorten(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return args
	}
	if l.plain(args) {
		return args
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return json.RawMessage(`{}`)
	}
	out, err := json.Marshal(l.shortened(v))
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// plain reports whether there is nothing to take out or to shorten: one look at
// the text as it stands shows it of most, unless an escape may hide something.
func (l *Log) plain(args json.RawMessage) bool {
	if len(args) > longestArgument || bytes.IndexByte(args, '\\') >= 0 || !json.Valid(args) {
		return false
	}
	for key := range contents {
		if bytes.Contains(args, []byte(key)) {
			return false
		}
	}
	text := string(args)
	return l.config.Redact(text) == text
}

func (l *Log) shortened(v any) any {
	switch v := v.(type) {
	case string:
		// Redacted first: half a secret would not be recognised.
		safe := l.config.Redact(v)
		if len(safe) > longestArgument {
			return fmt.Sprintf("%s… (%d bytes)", bytes.ToValidUTF8([]byte(safe[:longestArgument]), nil), len(v))
		}
		return safe
	case json.Number:
		if safe := l.config.Redact(v.String()); safe != v.String() {
			return safe
		}
	case []any:
		for i := range v {
			v[i] = l.shortened(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, one := range v {
			text, ok := one.(string)
			switch {
			case ok && contents[k]:
				out[k] = fmt.Sprintf("(%d bytes)", len(text))
			default:
				out[l.config.Redact(k)] = l.shortened(one)
			}
		}
		return out
	}
	return v
}
