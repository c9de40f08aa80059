package meta

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/results"
)

// Index is what tool_search looks through.
type Index interface {
	// Deferred lists the tools that are admitted and that a model is not shown,
	// or was not until a search brought them.
	Deferred() []tools.Spec
	// Activate makes tools callable for the rest of the session. Doing so twice
	// changes nothing.
	Activate(names []string)
}

// ToolSearch is the tool tool_search: it finds tools whose definitions a model
// was not given, and makes them callable.
type ToolSearch struct {
	Index  Index
	Frames results.Framer
}

var toolSearchSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
"query":{"type":"string","description":"Required. Words to look for in names and descriptions, or select:NAME,NAME for exact names"},
"max_results":{"type":"integer","minimum":1,"maximum":100,"default":5,"description":"How many tools a search by words returns at most"}}}`)

// Spec implements tools.Tool.
func (ToolSearch) Spec() tools.Spec {
	return tools.Spec{
		Name: "tool_search", OwnName: "tool_search", Origin: permissions.OriginLocal, Title: "Find tools",
		Description: "Finds tools that are listed by name only and returns their definitions; after that they can be called. Search by words, or by exact names with select:NAME,NAME.",
		InputSchema: toolSearchSchema,
	}
}

// noMatch is what a search without a result says.
const noMatch = "No matching deferred tools found."

// maxDefinitions is how many bytes of definitions one search returns, and
// maxNames of names beside them: with more, the result would be cut in two.
const (
	maxDefinitions = results.DefaultMaxChars - 3*maxNames
	maxNames       = 2000
)

// Run implements tools.Tool.
func (t ToolSearch) Run(_ context.Context, args json.RawMessage) (tools.Result, error) {
	in := struct {
		Query string `json:"query"`
		Max   int    `json:"max_results"`
	}{Max: 5}
	if err := json.Unmarshal(args, &in); err != nil {
		return tools.Result{}, fmt.Errorf("search tools: %w", err)
	}
	query := strings.TrimSpace(in.Query)
	if query == "" {
		return failure("query parameter is required"), nil
	}
	var found []tools.Spec
	var missing []string
	if names, ok := strings.CutPrefix(query, "select:"); ok {
		found, missing = selected(t.Index.Deferred(), names)
	} else {
		found = ranked(t.Index.Deferred(), strings.Fields(strings.ToLower(query)))
		found = found[:min(len(found), max(in.Max, 1))]
	}
	var names []string
	for _, s := range found {
		names = append(names, s.Name)
	}
	if len(names) > 0 {
		t.Index.Activate(names)
	}
	return tools.Text(t.answer(found, missing)), nil
}

// selected finds tools by their exact names, each once and in that order.
func selected(all []tools.Spec, list string) (found []tools.Spec, missing []string) {
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" || seen[name] {
			continue
		}
		seen[name] = true
		if i := slices.IndexFunc(all, func(s tools.Spec) bool { return s.Name == name }); i >= 0 {
			found = append(found, all[i])
		} else {
			missing = append(missing, name)
		}
	}
	return found, missing
}

// ranked are the tools that hold at least one of the terms in their name or
// description: those that hold more first, then by name.
func ranked(all []tools.Spec, terms []string) []tools.Spec {
	type hit struct {
		spec  tools.Spec
		score int
	}
	var hits []hit
	for _, s := range all {
		text, score := strings.ToLower(s.Name+" "+s.Description), 0
		for _, term := range terms {
			if strings.Contains(text, term) {
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{s, score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(b.score-a.score, strings.Compare(a.spec.Name, b.spec.Name)) })
	out := make([]tools.Spec, len(hits))
	for i, h := range hits {
		out[i] = h.spec
	}
	return out
}

// answer writes the definitions, one a line, as JSON in which no text of a
// server can end the line or the tag.
func (t ToolSearch) answer(found []tools.Spec, missing []string) string {
	var b strings.Builder
	if len(found) == 0 {
		b.WriteString(noMatch)
	} else {
		b.WriteString("<functions>\n")
		var later []string
		for _, s := range found {
			definition := struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			}{s.Name, t.Frames.Description(s), tools.ModelSchema(s.InputSchema)}
			line, err := json.Marshal(definition)
			if err != nil || b.Len()+len(line) > maxDefinitions {
				later = append(later, s.Name)
				continue
			}
			b.WriteString("<function>")
			b.Write(line)
			b.WriteString("</function>\n")
		}
		b.WriteString("</functions>")
		if len(later) > 0 {
			b.WriteString("\nThese can be called as well; their definitions come with the next turn: " + tools.ModelText(strings.Join(later, ", "), maxNames))
		}
	}
	if len(missing) > 0 {
		b.WriteString("\nNot found: " + tools.ModelText(strings.Join(missing, ", "), maxNames))
	}
	return b.String()
}

// failure is the result of a call that the tool itself refuses.
func failure(format string, args ...any) tools.Result {
	r := tools.Text(fmt.Sprintf(format, args...))
	r.IsError = true
	return r
}
