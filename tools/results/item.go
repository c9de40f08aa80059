package results

import (
	"encoding/json"
	"fmt"

	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

// item returns one content item for people and its text for models. What need
// not be changed in an item is not copied.
func (f *finishing) item(i int, item tools.Content) (json.RawMessage, string) {
	if item.Raw == nil {
		text := f.config.Redact(item.Text)
		return textItem(text), text
	}
	kind, data, name, uri, resource := "", json.RawMessage(nil), "", "", json.RawMessage(nil)
	for key, value := range jsonparts.Members(item.Raw) {
		switch key {
		case "type":
			kind = jsonparts.Text(value)
		case "data":
			data = value
		case "name":
			name = jsonparts.Text(value)
		case "uri":
			uri = jsonparts.Text(value)
		case "resource":
			resource = value
		}
	}
	switch kind {
	case "text":
		return f.withText(item.Raw)
	case "image", "audio":
		return f.media(kind, data)
	case "resource_link":
		note := fmt.Sprintf("[link to resource %s %s]", tools.ModelText(name, 200), tools.ModelText(uri, 2000))
		return f.redactJSON(item.Raw), f.config.Redact(note)
	case "resource":
		if a, ok := f.attached[i]; ok {
			shown := f.rebuilt(item.Raw, func(key string, value json.RawMessage) json.RawMessage {
				if key == "resource" {
					return f.withAttachment(value, a)
				}
				return f.redactJSON(value)
			})
			return shown, a.marker
		}
		now, text := f.withText(resource)
		shown := f.rebuilt(item.Raw, func(key string, value json.RawMessage) json.RawMessage {
			if key == "resource" {
				return now
			}
			return f.redactJSON(value)
		})
		return shown, text
	}
	note := fmt.Sprintf("[content of the unknown type %q was left out]", tools.ModelText(kind, 100))
	return textItem(note), note
}

// withText redacts an object with a text, and returns the text as well. What
// only we say of a text is taken out.
func (f *Finisher) withText(raw json.RawMessage) (json.RawMessage, string) {
	text := ""
	return f.rebuilt(raw, func(key string, value json.RawMessage) json.RawMessage {
		if key == admitKey {
			return nil
		}
		if key != "text" || len(value) == 0 || value[0] != '"' {
			return f.redactJSON(value)
		}
		was := jsonparts.Text(value)
		if text = f.config.Redact(was); text == was {
			return value
		}
		return jsonparts.AppendText(make([]byte, 0, len(value)), text)
	}), text
}

// rebuilt is an object with each value as change returns it, nil to leave it
// out. Where nothing changes it is the object itself, not a copy.
func (f *Finisher) rebuilt(raw json.RawMessage, change func(key string, value json.RawMessage) json.RawMessage) json.RawMessage {
	type member struct {
		key   string
		value json.RawMessage
	}
	var list []member
	size, changed := 2, false
	for key, value := range jsonparts.Members(raw) {
		now := change(key, value)
		safe := f.config.Redact(key)
		changed = changed || safe != key || len(now) != len(value) || len(now) > 0 && &now[0] != &value[0]
		if now != nil {
			list = append(list, member{safe, now})
			size += len(safe) + len(now) + 8
		}
	}
	if !changed {
		return raw
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonparts.AppendText(out, m.key), ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

func (f *Finisher) redactJSON(raw json.RawMessage) json.RawMessage {
	return tools.RedactJSON(raw, f.config.Redact)
}
