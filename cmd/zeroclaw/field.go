package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// field is one value of a form: text, a number, yes or no, or a choice of one
// or several.
type field struct {
	name     string
	title    string
	about    string
	kind     string // string, number, integer, boolean, choice, choices
	required bool
	preset   any // taken for an empty line; nil: none
	choices  []choice
	low      *float64 // of a number, of the length of a text, of how many are chosen
	high     *float64
}

type choice struct{ value, title string }

// constant is one choice with a title of its own.
type constant struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// readField reads one property of a schema as MCP restricts them for forms.
func readField(name string, raw json.RawMessage, required []string) (field, error) {
	var s struct {
		Type        string     `json:"type"`
		Title       string     `json:"title"`
		Description string     `json:"description"`
		Default     any        `json:"default"`
		Enum        []string   `json:"enum"`
		EnumNames   []string   `json:"enumNames"`
		OneOf       []constant `json:"oneOf"`
		MinLength   *float64   `json:"minLength"`
		MaxLength   *float64   `json:"maxLength"`
		Minimum     *float64   `json:"minimum"`
		Maximum     *float64   `json:"maximum"`
		MinItems    *float64   `json:"minItems"`
		MaxItems    *float64   `json:"maxItems"`
		Items       struct {
			Enum  []string   `json:"enum"`
			AnyOf []constant `json:"anyOf"`
		} `json:"items"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return field{}, fmt.Errorf("its field %s cannot be read", oneLine(name))
	}
	f := field{name: name, title: s.Title, about: s.Description, kind: s.Type, required: slices.Contains(required, name), preset: s.Default}
	add := func(values, titles []string, constants []constant) {
		for i, v := range values {
			c := choice{v, v}
			if i < len(titles) {
				c.title = titles[i]
			}
			f.choices = append(f.choices, c)
		}
		for _, c := range constants {
			f.choices = append(f.choices, choice{c.Const, c.Title})
		}
	}
	switch s.Type {
	case "string":
		f.low, f.high = s.MinLength, s.MaxLength
		if add(s.Enum, s.EnumNames, s.OneOf); len(f.choices) > 0 {
			f.kind, f.low, f.high = "choice", nil, nil
		}
	case "number", "integer":
		f.low, f.high = s.Minimum, s.Maximum
	case "boolean":
	case "array":
		f.kind, f.low, f.high = "choices", s.MinItems, s.MaxItems
		if add(s.Items.Enum, nil, s.Items.AnyOf); len(f.choices) == 0 {
			return f, fmt.Errorf("its field %s is a list of anything", oneLine(name))
		}
	default:
		return f, fmt.Errorf("its field %s is of the type %s", oneLine(name), oneLine(s.Type))
	}
	return f, nil
}

// line names the field with what it is for.
func (f field) line() string {
	text := oneLine(f.name)
	if f.title != "" && f.title != f.name {
		text += " (" + words(f.title) + ")"
	}
	if f.about != "" {
		text += ": " + words(f.about)
	}
	return text
}

// ask asks for the value.
func (f field) ask() string {
	var b strings.Builder
	b.WriteString(f.line() + "\n")
	for i, c := range f.choices {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, words(c.title))
	}
	var how []string
	switch f.kind {
	case "boolean":
		how = append(how, "yes or no")
	case "choice":
		how = append(how, "the number of one")
	case "choices":
		how = append(how, "the numbers, separated by commas")
	case "number", "integer":
		how = append(how, "a number"+f.bounds(" from ", " to "))
	case "string":
		if f.low != nil || f.high != nil {
			how = append(how, "text"+f.bounds(" of at least ", " and at most ")+" characters")
		}
	}
	switch {
	case f.preset != nil:
		raw, _ := json.Marshal(f.preset) // it came from JSON
		how = append(how, "nothing takes "+plainJSON(raw))
	case !f.required:
		how = append(how, "nothing leaves it out")
	}
	if len(how) > 0 {
		fmt.Fprintf(&b, "  (%s)\n", strings.Join(how, "; "))
	}
	return b.String()
}

func (f field) bounds(low, high string) string {
	text := ""
	if f.low != nil {
		text += low + strconv.FormatFloat(*f.low, 'f', -1, 64)
	}
	if f.high != nil {
		text += high + strconv.FormatFloat(*f.high, 'f', -1, 64)
	}
	return text
}

// read takes a line as the value; given is false for one that is left out.
func (f field) read(line string) (value any, given bool, err error) {
	text := strings.TrimSpace(line)
	if text == "" {
		if f.preset != nil {
			return f.preset, true, nil
		}
		if f.required {
			return nil, false, errors.New("the server needs it; /cancel ends the form")
		}
		return nil, false, nil
	}
	switch f.kind {
	case "boolean":
		switch strings.ToLower(text) {
		case "yes", "y", "true":
			return true, true, nil
		case "no", "n", "false":
			return false, true, nil
		}
		return nil, false, errors.New("type yes or no")
	case "number", "integer":
		return f.number(text)
	case "choice":
		v, err := f.chosen(text)
		return v, err == nil, err
	case "choices":
		all := []string{}
		for one := range strings.SplitSeq(text, ",") {
			v, err := f.chosen(strings.TrimSpace(one))
			if err != nil {
				return nil, false, err
			}
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return all, true, f.within(float64(len(all)), "choose%s of them", " at least ", " at most ")
	}
	return line, true, f.within(float64(utf8.RuneCountInString(line)), "type text%s characters long", " at least ", " at most ")
}

func (f field) number(text string) (any, bool, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, false, errors.New("type a number")
	}
	if f.kind == "integer" && n != math.Trunc(n) {
		return nil, false, errors.New("type a whole number")
	}
	return n, true, f.within(n, "type a number%s", " from ", " to ")
}

// within checks the bounds; how says what they are.
func (f field) within(n float64, how, low, high string) error {
	if f.low != nil && n < *f.low || f.high != nil && n > *f.high {
		return fmt.Errorf(how, f.bounds(low, high))
	}
	return nil
}

// chosen finds a choice by its number, which is what is asked for, or its value.
func (f field) chosen(text string) (string, error) {
	if i, err := strconv.Atoi(text); err == nil && i >= 1 && i <= len(f.choices) {
		return f.choices[i-1].value, nil
	}
	if i := slices.IndexFunc(f.choices, func(c choice) bool { return c.value == text }); i >= 0 {
		return f.choices[i].value, nil
	}
	return "", fmt.Errorf("type a number from 1 to %d", len(f.choices))
}
