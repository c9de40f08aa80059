package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// print writes what a call returned.
func (f *follower) print(out outcome, asJSON bool) error {
	if asJSON {
		return f.printJSON(out.raw)
	}
	if err := f.printContent(out); err != nil {
		return failure{err: fmt.Errorf("print what %s returned: %w", oneLine(f.tool), err)}
	}
	var s struct {
		Running []int `json:"running"`
	}
	if json.Unmarshal(out.Structured, &s) == nil && len(s.Running) > 0 && out.Tool == "execute_command" {
		fmt.Fprintln(f.stderr, "Its background processes end with this call.")
	}
	return nil
}

// printContent writes the items of a result to standard output: text as it is
// or, for a terminal, with all of it visible.
func (f *follower) printContent(out outcome) error {
	w, last := f.stdout, "\n"
	for i, raw := range out.Content {
		text := f.itemText(raw)
		if i == 0 {
			text = f.unseen(out, text)
		}
		if f.person.reads {
			text = manyLines(text)
		}
		if !strings.HasSuffix(last, "\n") {
			text = "\n" + text
		}
		if text != "" {
			last = text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	if len(out.Content) == 0 && len(out.Structured) > 0 {
		return f.printJSON(out.Structured)
	}
	// The prompt of a shell begins on a line of its own.
	if f.person.reads && !strings.HasSuffix(last, "\n") {
		_, err := fmt.Fprintln(w)
		return err
	}
	return nil
}

// itemText is one content item of MCP as text.
func (f *follower) itemText(raw json.RawMessage) string {
	var item struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MimeType string `json:"mimeType"`
		ResultID string `json:"result_id"`
		Size     int64  `json:"size"`
		Path     string `json:"path"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
		Resource struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
			Note string `json:"materialized"` // where an embedded file was put
		} `json:"resource"`
	}
	if err := json.Unmarshal(raw, &item); err != nil {
		return "[a part that cannot be read]\n"
	}
	switch {
	case item.Type == "text":
		return item.Text
	case item.Path != "":
		return fmt.Sprintf("[%s %s: %s]\n", oneLine(item.Type), oneLine(first(item.MimeType, item.Name, item.URI)), oneLine(item.Path))
	case item.ResultID != "":
		return fmt.Sprintf("[%s %s, %d bytes: %s]\n", oneLine(item.Type), oneLine(item.MimeType), item.Size, f.stored(item.ResultID))
	case item.Type == "resource_link":
		return fmt.Sprintf("[link %s: %s]\n", words(item.Name), oneLine(item.URI))
	case item.Type == "resource" && item.Resource.Note != "":
		return oneLine(item.Resource.Note) + "\n"
	case item.Type == "resource":
		return item.Resource.Text
	}
	text, err := compact(raw)
	if err != nil {
		return "[a part that cannot be read]\n"
	}
	return text + "\n"
}

// stored is the file of a stored result, else its id.
func (f *follower) stored(id string) string {
	state, err := f.stateDir()
	if err == nil && id != "" && filepath.Base(id) == id {
		path := filepath.Join(state, "objects", id)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return "stored as " + oneLine(id)
}

// unseen is the text of a command's result without what was shown while it ran.
// Where the two do not fit together, all of it is shown.
func (f *follower) unseen(out outcome, text string) string {
	var s struct {
		Stdout string `json:"stdout"`
		Stderr string `json:"stderr"`
	}
	if len(f.printed) == 0 || json.Unmarshal(out.Structured, &s) != nil {
		return text
	}
	notes, ok := strings.CutPrefix(text, streams(s.Stdout, s.Stderr))
	stdout, same := strings.CutPrefix(s.Stdout, together(f.printed["stdout"]))
	stderr, too := strings.CutPrefix(s.Stderr, together(f.printed["stderr"]))
	if !ok || !same || !too {
		return "\n[the whole output]\n" + text
	}
	rest := stdout + stderr
	if printed := s.Stdout + s.Stderr; rest == "" && !strings.HasSuffix(printed, "\n") || rest != "" && !strings.HasSuffix(rest, "\n") {
		rest += "\n"
	}
	return rest + notes
}

// streams is how the text of a command's result begins.
func streams(stdout, stderr string) string {
	line := func(text string) string {
		if text != "" && !strings.HasSuffix(text, "\n") {
			return text + "\n"
		}
		return text
	}
	if stderr == "" {
		return line(stdout)
	}
	return line(stdout) + "[stderr]\n" + line(stderr)
}

func together(all []piece) string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(p.Text)
	}
	return b.String()
}
