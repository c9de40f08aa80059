package services

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"zeroclaw/tools/jsonparts"
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
	if !json.Valid(raw) || raw[0] != '{' {
		return ToolDef{}, errors.New("reading a tool definition: it is not a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for name, value := range jsonparts.Members(raw) { // of duplicate names the last counts
		fields[name] = value
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
	text := make([]byte, 0, len(raw)+6)
	for _, s := range []string{t.Name, t.Title, t.Description} {
		b, err := json.Marshal(s)
		if err != nil {
			return ToolDef{}, err
		}
		text = append(append(text, b...), 0)
	}
	for _, part := range []json.RawMessage{t.InputSchema, t.OutputSchema, t.Annotations} {
		text = append(jsonparts.AppendCanonical(text, part), 0)
	}
	sum := sha256.Sum256(text)
	t.Hash = hex.EncodeToString(sum[:])
	return t, nil
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
