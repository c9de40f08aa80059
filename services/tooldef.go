package services

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ToolDef is a tool as its server describes it. Every text in it is untrusted.
type ToolDef struct {
	Name, Title, Description string
	// InputSchema, OutputSchema and Annotations are the bytes as received (no
	// keyword is lost); nil when absent. A schema need not be valid.
	InputSchema, OutputSchema, Annotations json.RawMessage
	// Raw is the whole object as received; the fields above are parts of it.
	Raw json.RawMessage
	// Hash is SHA-256 in hex over name, title, description, schemas and
	// annotations, independent of the order of keys and of white space. A
	// decision that was remembered for one hash does not hold for another.
	Hash string
}

// NewToolDef reads one entry of tools/list.
func NewToolDef(raw json.RawMessage) (ToolDef, error) {
	raw = bytes.Clone(bytes.TrimSpace(raw))
	fields, err := objectFields(raw)
	if err != nil {
		return ToolDef{}, fmt.Errorf("reading a tool definition: %w", err)
	}
	t := ToolDef{Raw: raw}
	for _, f := range []struct {
		key  string
		into *string
	}{{"name", &t.Name}, {"title", &t.Title}, {"description", &t.Description}} {
		if v, ok := fields[f.key]; ok && string(v) != "null" {
			if err := json.Unmarshal(v, f.into); err != nil {
				return ToolDef{}, fmt.Errorf("reading a tool definition: %s is not text", f.key)
			}
		}
	}
	if t.Name == "" {
		return ToolDef{}, errors.New("reading a tool definition: it has no name")
	}
	t.InputSchema, t.OutputSchema, t.Annotations = fields["inputSchema"], fields["outputSchema"], fields["annotations"]
	h := sha256.New()
	for _, s := range []string{t.Name, t.Title, t.Description} {
		b, err := json.Marshal(s)
		if err != nil {
			return ToolDef{}, err
		}
		h.Write(append(b, 0))
	}
	for _, part := range []json.RawMessage{t.InputSchema, t.OutputSchema, t.Annotations} {
		h.Write(canonical(part))
		h.Write([]byte{0})
	}
	t.Hash = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

// objectFields returns the members of a JSON object as parts of raw, the last
// one of duplicate keys. Keys are compared exactly.
func objectFields(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		from := d.InputOffset()
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
		to := d.InputOffset()
		fields[k.(string)] = bytes.TrimLeft(raw[from:to:to], ": \t\r\n")
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return fields, nil
}

// canonical rewrites JSON with sorted keys and no white space. Duplicate keys
// stay, in their order, so that hiding a change behind one is still a change;
// numbers keep their spelling. What is not JSON is returned as it is.
func canonical(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	out, err := canonicalValue(d)
	if err != nil {
		return raw
	}
	return out
}

func canonicalValue(d *json.Decoder) ([]byte, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		out := []byte{'['}
		for d.More() {
			v, err := canonicalValue(d)
			if err != nil {
				return nil, err
			}
			out = append(append(out, v...), ',')
		}
		_, err := d.Token()
		return append(out, ']'), err
	case json.Delim('{'):
		type member struct {
			key   string
			value []byte
		}
		var members []member
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := canonicalValue(d)
			if err != nil {
				return nil, err
			}
			members = append(members, member{k.(string), v})
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
		out := []byte{'{'}
		for _, m := range members {
			k, err := json.Marshal(m.key)
			if err != nil {
				return nil, err
			}
			out = append(append(append(append(out, k...), ':'), m.value...), ',')
		}
		return append(out, '}'), nil
	}
	return json.Marshal(t)
}

// admitTools decides which tools of a listing are offered: the first of those
// with one name, and no more than limit. The notices say what was left out.
func admitTools(list []ToolDef, limit int) (kept []ToolDef, notices []string) {
	seen := make(map[string]bool, len(list))
	var twice []string
	for i, t := range list {
		if seen[t.Name] {
			if !slices.Contains(twice, t.Name) && len(twice) < 5 {
				twice = append(twice, t.Name)
			}
			continue
		}
		if len(kept) == limit {
			notices = append(notices, fmt.Sprintf("it lists more than %d tools: the first %d are offered, %s are left out", limit, limit, atLeast(len(list)-i, len(list) > limit)))
			break
		}
		seen[t.Name] = true
		kept = append(kept, t)
	}
	for _, name := range twice {
		notices = append(notices, fmt.Sprintf("it lists the tool %q more than once: only the first is offered", Visible(name)))
	}
	return kept, notices
}

func atLeast(n int, open bool) string {
	if open {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}
