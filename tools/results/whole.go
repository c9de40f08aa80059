package results

import (
	"bytes"
	"encoding/json"
	"unsafe"

	"zeroclaw/tools"
)

// whole is a result as it is passed to another MCP client: not framed, not cut,
// without secrets.
func (f *Finisher) whole(r tools.Result) json.RawMessage {
	if r.Whole != nil {
		return f.withoutSecrets(r.Whole)
	}
	out := []byte(`{"content":[`)
	for i, item := range r.Content {
		if i > 0 {
			out = append(out, ',')
		}
		if item.Raw != nil {
			out = append(out, f.withoutSecrets(item.Raw)...)
		} else {
			out = append(out, textItem(f.config.Redact(item.Text))...)
		}
	}
	out = append(out, ']')
	if len(r.Structured) > 0 {
		out = append(append(out, `,"structuredContent":`...), f.withoutSecrets(r.Structured)...)
	}
	if len(r.Meta) > 0 {
		out = append(append(out, `,"_meta":`...), f.withoutSecrets(r.Meta)...)
	}
	if r.IsError {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}

// withoutSecrets is a JSON value without secrets. Most have none, which one look
// at the text as it stands shows: secrets are known in the form that JSON gives
// them, too. That form leaves open whether a letter or a slash is escaped.
func (f *Finisher) withoutSecrets(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) && !bytes.Contains(raw, []byte(`\/`)) {
		// Not a copy: it may have many megabytes, and is only looked at.
		if text := unsafe.String(unsafe.SliceData(raw), len(raw)); f.config.Redact(text) == text {
			return raw
		}
	}
	return tools.RedactJSON(raw, f.config.Redact)
}
