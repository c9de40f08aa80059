package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prompt is where the answer is typed.
const prompt = "> "

// question is one question as the companion lists it.
type question struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`
	Session   string          `json:"session"`
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Server    string          `json:"server"`
	Title     string          `json:"title"`
	Reason    string          `json:"reason"`
	Rule      string          `json:"rule"`
	Arguments json.RawMessage `json:"arguments"`
	Command   *struct {
		Text  string `json:"text"`
		Cwd   string `json:"cwd"`
		Marks []struct {
			Start int `json:"start"`
			End   int `json:"end"`
		} `json:"marks"`
	} `json:"command"`
	Resolved []struct {
		Path   string `json:"path"`
		Access string `json:"access"`
		Op     string `json:"op"`
	} `json:"resolved"`
	Diff       string          `json:"diff"`
	Definition string          `json:"definition_diff"`
	Schema     json.RawMessage `json:"schema"`
	Choices    []string        `json:"choices"`
	Proposed   []string        `json:"proposed_rules"`
	Deadline   time.Time       `json:"deadline"`
}

// answer is what is sent back.
type answer struct {
	Decision string         `json:"decision"`
	Reason   string         `json:"reason,omitempty"`
	Rule     string         `json:"rule,omitempty"`
	Content  map[string]any `json:"content,omitempty"`
}

// dialog puts one question to somebody at a terminal.
type dialog interface {
	// show is the question in full, with what can be answered.
	show() string
	// hear takes one line: an answer, or nil and what to say to it. No line
	// means yes by itself.
	hear(line string) (a *answer, say string)
}

// labelled is where the text behind a label begins, in cells.
const labelled = 13

// maxShown bounds what is shown of a question, in bytes. What cannot be shown
// in full cannot be allowed here either.
const maxShown = 64 << 10

// dialogFor is how a question is put here, or why it cannot be.
func dialogFor(q question) (dialog, string) {
	size := len(q.Arguments) + len(q.Diff) + len(q.Definition) + len(q.Schema)
	switch {
	case size > maxShown:
		return nil, "because it is too long for a terminal"
	case q.Kind == "call":
		return callDialog{q}, ""
	case q.Kind == "elicitation":
		return newForm(q)
	}
	return nil, "where a model can reply"
}

// callDialog asks whether a call may run.
type callDialog struct{ question }

func (d callDialog) show() string {
	var b strings.Builder
	name := oneLine(d.Tool)
	if d.Title != "" {
		name += " (" + words(d.Title) + ")"
	}
	fmt.Fprintf(&b, "May %s run?\n", name)
	row := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", labelled)))
		}
	}
	row("why", words(d.Reason))
	row("decided by", oneLine(d.Rule))
	row("server", oneLine(d.Server))
	if d.Command != nil {
		row("command", d.marked())
		row("in", oneLine(d.Command.Cwd))
	}
	for _, r := range d.Resolved {
		row(map[string]string{"R": "reads", "W": "changes"}[r.Access], oneLine(r.Path))
	}
	if d.Diff != "" {
		fmt.Fprintf(&b, "  change\n%s\n", indent(manyLines(d.Diff), "    "))
	}
	if d.Definition != "" {
		fmt.Fprintf(&b, "  the tool's definition changed since it was accepted\n%s\n", indent(manyLines(d.Definition), "    "))
	}
	fmt.Fprintf(&b, "  arguments, exactly\n%s\n", indent(pretty(d.Arguments), "    "))
	b.WriteString(until(d.Deadline))
	b.WriteString(d.choices())
	return b.String()
}

// until says how long a question waits.
func until(deadline time.Time) string {
	left := time.Until(deadline).Round(time.Second)
	return fmt.Sprintf("It waits until %s, %v from now; without an answer nothing is done.\n", deadline.Local().Format(time.TimeOnly), max(0, left))
}

// marked is the command with what made it ask underlined.
func (d callDialog) marked() string {
	var lines, parts []string
	at := 0
	for line := range strings.Lines(d.Command.Text) {
		text := strings.TrimSuffix(line, "\n")
		shown, under := oneLine(text), ""
		for _, m := range d.Command.Marks {
			from, to := max(m.Start-at, 0), min(m.End-at, len(text))
			if from >= to {
				continue
			}
			parts = append(parts, oneLine(text[from:to]))
			before := columns(oneLine(text[:from]))
			under += strings.Repeat(" ", max(0, before-columns(under)))
			under += strings.Repeat("^", max(0, columns(oneLine(text[:to]))-columns(under)))
		}
		lines = append(lines, shown)
		switch {
		case under == "":
		case columns(shown) <= plainScreen-labelled:
			lines, parts = append(lines, under), nil
		default: // a line that the terminal breaks cannot be underlined
			lines, parts = append(lines, "with  "+strings.Join(slices.Compact(parts), "  ")), nil
		}
		at += len(line)
	}
	return strings.Join(lines, "\n")
}

func (d callDialog) offers(choice string) bool { return slices.Contains(d.Choices, choice) }

// rules are what can be saved instead of the answer for the tool.
func (d callDialog) rules() []string {
	if !d.offers("rule") {
		return nil
	}
	return d.Proposed
}

func (d callDialog) choices() string {
	var b strings.Builder
	line := func(key, text string) { fmt.Fprintf(&b, "  %-12s %s\n", key, text) }
	b.WriteString("Answer with\n")
	if d.offers("once") {
		line("once", "allow this call")
	}
	if d.offers("always") {
		what := "allow this tool for good; Settings → Permissions takes it back"
		if d.Command != nil {
			what = "allow exactly this command in this folder for good"
		}
		line("always", what)
	}
	for i, r := range d.rules() {
		line(fmt.Sprintf("rule %d", i+1), "add the rule "+oneLine(r)+" for good")
	}
	line("deny", "refuse it; deny REASON says why")
	return b.String()
}

func (d callDialog) hear(line string) (*answer, string) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	again := "Type one of these:\n" + strings.TrimPrefix(d.choices(), "Answer with\n")
	switch word := strings.ToLower(word); {
	case (word == "once" || word == "always") && rest == "" && d.offers(word):
		return &answer{Decision: word}, ""
	case word == "rule":
		i, err := strconv.Atoi(rest)
		if all := d.rules(); err == nil && i >= 1 && i <= len(all) {
			return &answer{Decision: "always", Rule: all[i-1]}, ""
		}
	case word == "deny" || word == "no":
		if n := len([]rune(rest)); n > 500 {
			return nil, fmt.Sprintf("Use at most 500 characters, not %d.\n", n)
		}
		return &answer{Decision: "deny", Reason: rest}, ""
	}
	return nil, again
}
