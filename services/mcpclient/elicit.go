package mcpclient

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"zeroclaw/services"
)

// field is what the schemas of form questions may say about one value.
type field struct {
	Type      string            `json:"type"`
	Default   json.RawMessage   `json:"default"`
	Enum      []json.RawMessage `json:"enum"`
	OneOf     []constant        `json:"oneOf"`
	MinLength *int              `json:"minLength"`
	MaxLength *int              `json:"maxLength"`
	Minimum   *float64          `json:"minimum"`
	Maximum   *float64          `json:"maximum"`
	MinItems  *int              `json:"minItems"`
	MaxItems  *int              `json:"maxItems"`
	Items     *struct {
		Enum  []json.RawMessage `json:"enum"`
		AnyOf []constant        `json:"anyOf"`
	} `json:"items"`
}

type constant struct {
	Const json.RawMessage `json:"const"`
}

// completed is the answer to an elicitation/create request as it may be sent:
// what was left out of accepted content gets its default (SEP-1034). The page
// checks what a person types; content that does not fit the question in spite of
// that is not sent, and the error says why.
func completed(params, result json.RawMessage) (json.RawMessage, error) {
	var question struct {
		Mode   string `json:"mode"`
		Schema *struct {
			Properties map[string]field `json:"properties"`
			Required   []string         `json:"required"`
		} `json:"requestedSchema"`
	}
	var answer struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return nil, fmt.Errorf("the answer has another shape than the protocol's: %w", err)
	}
	if answer.Action != "accept" {
		return result, nil
	}
	if err := json.Unmarshal(params, &question); err != nil {
		return nil, fmt.Errorf("the question has another shape than the protocol's: %w", err)
	}
	if question.Schema == nil || question.Mode == "url" {
		return result, nil
	}
	content := answer.Content
	if content == nil {
		content = map[string]json.RawMessage{}
	}
	added := false
	for name, f := range question.Schema.Properties {
		value, given := content[name]
		if !given && f.Default != nil && f.fits(f.Default) == nil {
			content[name], added = f.Default, true
			continue
		}
		if !given {
			if slices.Contains(question.Schema.Required, name) {
				return nil, fmt.Errorf("the field %q is required and was not given", services.Shown(name, 100))
			}
			continue
		}
		if err := f.fits(value); err != nil {
			return nil, fmt.Errorf("the field %q %w", services.Shown(name, 100), err)
		}
	}
	for name := range content {
		if _, known := question.Schema.Properties[name]; !known {
			return nil, fmt.Errorf("the field %q was not asked for", services.Shown(name, 100))
		}
	}
	if !added && answer.Content != nil {
		return result, nil
	}
	// Whatever else the answer holds stays.
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(result, &whole); err != nil {
		return nil, err
	}
	b, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	whole["content"] = b
	return json.Marshal(whole)
}

// fits says why a value is not one of the field. A type that the protocol does
// not know is not judged.
func (f field) fits(raw json.RawMessage) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return fmt.Errorf("is no JSON: %w", err)
	}
	choices := f.Enum
	for _, c := range f.OneOf {
		choices = append(choices, c.Const)
	}
	switch f.Type {
	case "string":
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("must be text")
		}
		n := utf8.RuneCountInString(text)
		if f.MinLength != nil && n < *f.MinLength || f.MaxLength != nil && n > *f.MaxLength {
			return fmt.Errorf("has %d characters, which is too few or too many", n)
		}
	case "number", "integer":
		n, ok := value.(float64)
		if !ok || f.Type == "integer" && n != math.Trunc(n) {
			return fmt.Errorf("must be %s", map[string]string{"number": "a number", "integer": "a whole number"}[f.Type])
		}
		if f.Minimum != nil && n < *f.Minimum || f.Maximum != nil && n > *f.Maximum {
			return fmt.Errorf("is too small or too large")
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			return fmt.Errorf("must be true or false")
		}
	case "array":
		return f.list(value)
	}
	if len(choices) > 0 && !among(value, choices) {
		return fmt.Errorf("must be one of the choices")
	}
	return nil
}

// list checks a choice of several.
func (f field) list(value any) error {
	items, ok := value.([]any)
	if !ok {
		return fmt.Errorf("must be a list")
	}
	if f.MinItems != nil && len(items) < *f.MinItems || f.MaxItems != nil && len(items) > *f.MaxItems {
		return fmt.Errorf("has %d choices, which is too few or too many", len(items))
	}
	if f.Items == nil {
		return nil
	}
	choices := f.Items.Enum
	for _, c := range f.Items.AnyOf {
		choices = append(choices, c.Const)
	}
	for _, item := range items {
		if len(choices) > 0 && !among(item, choices) {
			return fmt.Errorf("holds what is none of the choices")
		}
	}
	return nil
}

func among(value any, choices []json.RawMessage) bool {
	return slices.ContainsFunc(choices, func(c json.RawMessage) bool {
		var v any
		if json.Unmarshal(c, &v) != nil {
			return false
		}
		switch v.(type) {
		case string, float64, bool, nil:
			return v == value
		}
		return false
	})
}
