package tools

import (
	"bytes"
	"encoding/json"

	"zeroclaw/tools/jsonparts"
)

// RedactJSON redacts every key, text and number in a JSON value that is known
// to be valid: as they are meant, not as they are written, since an escape
// could hide a secret and what begins in one text may seem to end in the next.
// The outcome is valid in the same order; a number that is redacted becomes a
// text. A value without secrets is returned as it is, not copied.
func RedactJSON(raw json.RawMessage, redact func(string) string) json.RawMessage {
	var out []byte
	from := 0
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = jsonparts.StringEnd(raw, i)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(raw) && bytes.IndexByte([]byte("+-.eE0123456789"), raw[end]) >= 0 {
				end++
			}
		default:
			i++
			continue
		}
		text := string(raw[i:end])
		if raw[i] == '"' {
			text = jsonparts.Text(raw[i:end])
		}
		if safe := redact(text); safe != text {
			out = append(out, raw[from:i]...)
			out = jsonparts.AppendText(out, safe)
			from = end
		}
		i = end
	}
	if out == nil {
		return raw
	}
	return append(out, raw[from:]...)
}
