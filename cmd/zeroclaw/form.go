package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// form puts what a server wants to know, field by field. All of its texts are
// the server's, and untrusted.
type form struct {
	question
	message string
	host    string // of url
	url     string // of a question to be answered in a browser, not in a form
	fields  []field

	stage  stage
	at     int // the field that is asked for
	values map[string]any
}

// stage is how far a form has come.
type stage int

const (
	offered stage = iota // whether to fill it in
	filling
	review // whether to send it
)

// newForm reads what a server asks for, or says why it cannot be put here.
func newForm(q question) (dialog, string) {
	var p struct {
		Message string `json:"message"`
		Mode    string `json:"mode"`
		URL     string `json:"url"`
	}
	if json.Unmarshal(q.Arguments, &p) != nil {
		return nil, "because it cannot be read here"
	}
	f := &form{question: q, message: p.Message, values: map[string]any{}}
	if p.Mode == "url" || p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return nil, "because the address is none that a browser should open"
		}
		f.url, f.host = p.URL, u.Host
		return f, ""
	}
	fields, err := readFields(q.Schema)
	if err != nil {
		return nil, "because this form cannot be put here: " + err.Error()
	}
	f.fields = fields
	return f, ""
}

// readFields reads the properties of a form's schema in their order.
func readFields(schema json.RawMessage) ([]field, error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if len(schema) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("its schema cannot be read")
	}
	var out []field
	if len(s.Properties) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("its properties are no object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("its properties cannot be read")
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("its properties cannot be read")
		}
		f, err := readField(name.(string), raw, s.Required)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (f *form) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The server %s asks you for something. Its words:\n%s\n", oneLine(f.Server), indent(manyLines(f.message), "    "))
	if f.url != "" {
		fmt.Fprintf(&b, "It wants you to open this address at %s in your browser, if you trust it:\n    %s\n", oneLine(f.host), oneLine(f.url))
	}
	for _, one := range f.fields {
		fmt.Fprintf(&b, "  %s\n", one.line())
	}
	b.WriteString(until(f.Deadline))
	b.WriteString(f.choices())
	return b.String()
}

func (f *form) choices() string {
	first := "fill         fill in the form, then decide whether to send it"
	switch {
	case f.url != "":
		first = "accept       say that you open the address"
	case f.stage == review:
		first = "send         send this to the server\n  fill         fill it in again"
	case len(f.fields) == 0:
		first = "accept       agree"
	}
	return "Answer with\n  " + first + "\n  decline      refuse\n  cancel       close it without an answer\n"
}

func (f *form) hear(line string) (*answer, string) {
	word := strings.ToLower(strings.TrimSpace(line))
	if f.stage == filling {
		if word == "/cancel" || word == "/decline" {
			return &answer{Decision: word[1:]}, ""
		}
		return nil, f.fill(line)
	}
	simple := f.url != "" || len(f.fields) == 0
	switch {
	case word == "decline" || word == "cancel":
		return &answer{Decision: word}, ""
	case word == "accept" && simple:
		a := &answer{Decision: "accept"}
		if f.url == "" {
			a.Content = map[string]any{}
		}
		return a, ""
	case word == "send" && f.stage == review:
		return &answer{Decision: "accept", Content: f.values}, ""
	case word == "fill" && !simple:
		f.stage, f.at, f.values = filling, 0, map[string]any{}
		return nil, "/cancel and /decline end it.\n" + f.fields[0].ask()
	}
	return nil, "Type one of these:\n" + strings.TrimPrefix(f.choices(), "Answer with\n")
}

// fill takes the value of the field that is asked for and says what comes next.
func (f *form) fill(line string) string {
	one := f.fields[f.at]
	v, given, err := one.read(line)
	if err != nil {
		return fmt.Sprintf("%s: %v\n", oneLine(one.name), err)
	}
	if given {
		f.values[one.name] = v
	}
	if f.at++; f.at < len(f.fields) {
		return f.fields[f.at].ask()
	}
	f.stage = review
	raw, err := json.Marshal(f.values)
	if err != nil {
		f.stage = offered
		return fmt.Sprintf("This cannot be sent: %v\n", err)
	}
	return fmt.Sprintf("This would be sent to %s:\n%s\n%s", oneLine(f.Server), indent(pretty(raw), "    "), f.choices())
}
