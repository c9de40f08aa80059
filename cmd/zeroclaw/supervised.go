package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// kind is one of the two kinds of supervised programs.
type kind struct {
	word string // "service" or "server"
	path string // of the list of all
	list string // key of the list in the answer
	id   string // key of the name in one
}

var (
	aService = kind{word: "service", path: "/api/services", list: "services", id: "id"}
	aServer  = kind{word: "server", path: "/api/servers", list: "servers", id: "name"}
)

func (k kind) at(name string) string { return k.path + "/" + segment(name) }

// known lists the names of this kind, for the shell and for hints.
func (k kind) known(ctx context.Context, c client) []string {
	return namesAt(k.path, k.list, k.id)(ctx, c)
}

// status is what is shown of one supervised program.
type status struct {
	ID            string            `json:"id"`
	Rev           uint64            `json:"rev"`
	DisplayName   map[string]string `json:"display_name"`
	Description   map[string]string `json:"description"`
	Transport     string            `json:"transport"`
	URL           string            `json:"url"`
	State         string            `json:"state"`
	Reason        string            `json:"reason"`
	Tools         int               `json:"tools"`
	ToolsFrom     string            `json:"tools_from"`
	Pid           int               `json:"pid"`
	Started       *time.Time        `json:"started"`
	LatencyMS     float64           `json:"latency_ms"`
	Restarts      int               `json:"restarts"`
	Autostart     bool              `json:"autostart"`
	RestartNeeded bool              `json:"restart_needed"`
	Notices       []string          `json:"notices"`
	Options       []option          `json:"options"`
	Enabled       *bool             `json:"enabled"`
	Error         *struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Message string `json:"message"`
	} `json:"error"`
	Breaker *struct {
		State string `json:"state"`
	} `json:"breaker"`
}

// all asks for the programs of a kind, also as they came.
func (c client) all(ctx context.Context, k kind) ([]status, json.RawMessage, error) {
	var raw json.RawMessage
	doing := "list the " + k.list
	if err := c.ask(ctx, doing, "GET", k.path, nil, &raw); err != nil {
		return nil, nil, err
	}
	var lists map[string]json.RawMessage
	var out []status
	err := json.Unmarshal(raw, &lists)
	if err == nil {
		err = json.Unmarshal(lists[k.list], &out)
	}
	if err != nil {
		return nil, nil, failure{err: fmt.Errorf("%s: read the answer: %w", doing, err)}
	}
	return out, raw, nil
}

// one asks for one program of a kind.
func (c client) one(ctx context.Context, k kind, name string) (status, error) {
	list, _, err := c.all(ctx, k)
	if err != nil {
		return status{}, err
	}
	i := slices.IndexFunc(list, func(s status) bool { return s.ID == name })
	if i < 0 {
		return status{}, c.missing(ctx, k, name)
	}
	return list[i], nil
}

// missing is the failure of a name that is not known.
func (c client) missing(ctx context.Context, k kind, name string) error {
	f := failure{err: fmt.Errorf("find the %s %s: there is no such %s", k.word, oneLine(name), k.word), hint: hints["unknown_"+k.word]}
	if near := nearest(name, k.known(ctx, c)); len(near) > 0 {
		f.hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return f
}

// act asks for an action on one program and returns what it then is.
func (c client) act(ctx context.Context, k kind, action, name string) (status, error) {
	var st status
	err := c.ask(ctx, action+" "+oneLine(name), "POST", k.at(name)+"/"+action, struct{}{}, &st)
	var f failure
	if errors.As(err, &f) && f.hint == hints["unknown_"+k.word] {
		return st, c.missing(ctx, k, name)
	}
	if errors.As(err, &f) && f.hint == "" && strings.Contains(f.Error(), "install it first") {
		f.hint = "zeroclaw services install " + oneLine(name)
		return st, f
	}
	return st, err
}

func (e environment) printStatuses(k kind, list []status) {
	head := []string{strings.ToUpper(k.id), "STATE", "TOOLS", "ABOUT"}
	if k == aServer {
		head = []string{"NAME", "TRANSPORT", "STATE", "TOOLS", "ABOUT"}
	}
	t := table{head: head}
	for _, s := range list {
		row := []string{oneLine(s.ID), s.shownState(), fmt.Sprint(s.Tools), s.about()}
		if k == aServer {
			row = slices.Insert(row, 1, oneLine(s.Transport))
		}
		t.add(row...)
	}
	t.write(e.stdout, e.screen())
}

// shownState is the state in one word.
func (s status) shownState() string {
	if s.Enabled != nil && !*s.Enabled {
		return "off"
	}
	return oneLine(s.State)
}

// about is why a program is as it is, else what it is for.
func (s status) about() string {
	var parts []string
	if s.Breaker != nil && s.Breaker.State != "" && s.Breaker.State != "closed" {
		parts = append(parts, "[paused after failures]")
	}
	if s.RestartNeeded {
		parts = append(parts, "[restart needed]")
	}
	switch {
	case s.Reason != "":
		parts = append(parts, s.Reason)
	case s.Error != nil:
		parts = append(parts, s.Error.Message)
	case english(s.Description) != "":
		parts = append(parts, english(s.Description))
	case s.URL != "":
		parts = append(parts, s.URL)
	case len(s.Notices) > 0:
		parts = append(parts, s.Notices[0])
	}
	return words(strings.Join(parts, " "))
}

// english is a text in the language of the command line, else in any.
func english(texts map[string]string) string {
	if t := texts["en"]; t != "" {
		return t
	}
	for _, t := range texts {
		return t
	}
	return ""
}
