package audit

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// appendLine writes an entry as encoding/json does, and a line end.
func appendLine(out []byte, e Entry) ([]byte, error) {
	if e.Time.Year() < 0 || e.Time.Year() > 9999 || !plainJSON(e.Arguments) {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		return append(append(out, line...), '\n'), nil
	}
	out = strconv.AppendUint(append(out, `{"seq":`...), e.Seq, 10)
	out = append(e.Time.AppendFormat(append(out, `,"time":"`...), time.RFC3339Nano), '"')
	out = appendText(out, `,"session":`, e.Session)
	out = appendText(out, `,"agent":`, e.Agent)
	out = appendText(out, `,"client":`, e.Client)
	out = appendSome(out, `,"app":`, e.App)
	out = appendText(out, `,"call_id":`, e.Call)
	out = appendText(out, `,"tool":`, e.Tool)
	out = append(append(out, `,"arguments":`...), e.Arguments...)
	out = appendText(out, `,"verdict":`, e.Verdict)
	out = strconv.AppendInt(append(out, `,"row":`...), int64(e.Row), 10)
	out = appendSome(out, `,"rule":`, e.Rule)
	out = appendSome(out, `,"reason":`, e.Reason)
	out = appendSome(out, `,"answered_by":`, e.AnsweredBy)
	out = appendSome(out, `,"answer":`, e.Answer)
	out = appendText(out, `,"outcome":`, e.Outcome)
	out = strconv.AppendInt(append(out, `,"duration_ms":`...), e.DurationMS, 10)
	for i, name := range slices.Sorted(maps.Keys(e.Sizes)) {
		before := ","
		if i == 0 {
			before = `,"sizes":{`
		}
		out = append(appendText(out, before, name), ':')
		out = strconv.AppendInt(out, e.Sizes[name], 10)
	}
	if len(e.Sizes) > 0 {
		out = append(out, '}')
	}
	return append(out, '}', '\n'), nil
}

func appendSome(out []byte, before, text string) []byte {
	if text == "" {
		return out
	}
	return appendText(out, before, text)
}

func appendText(out []byte, before, text string) []byte {
	out = append(out, before...)
	if plain(text) {
		return append(append(append(out, '"'), text...), '"')
	}
	quoted, _ := json.Marshal(text) // a text can always be written
	return append(out, quoted...)
}

// plain reports whether a text is written in JSON as it is.
func plain(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case c < ' ' || c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// plainJSON reports whether encoding/json would write a value as it is: there is
// nothing to leave out or to escape.
func plainJSON(raw json.RawMessage) bool {
	if len(raw) == 0 || !json.Valid(raw) {
		return false
	}
	inside, escaped := false, false // a text
	for _, c := range raw {
		switch {
		case c < ' ' || c > '~', c == '<', c == '>', c == '&', c == ' ' && !inside:
			return false
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		}
	}
	return true
}
