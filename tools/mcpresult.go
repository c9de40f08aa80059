package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"zeroclaw/tools/jsonparts"
)

// maxItems bounds how many content items of one result are looked at.
const maxItems = 10_000

// ResultOf reads an MCP tools/call result. Its items are kept as they came,
// whatever they are: they are parts of raw, which must not change afterwards.
func ResultOf(raw json.RawMessage) (Result, error) {
	if !json.Valid(raw) {
		return Result{}, errors.New("the result is no valid JSON")
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	var r Result
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "content":
			r.Content = nil
			for item := range jsonparts.Elements(value) {
				if len(r.Content) == maxItems {
					r.Content = append(r.Content, Content{Text: "[the result has more than 10,000 parts; the rest was left out]"})
					break
				}
				r.Content = append(r.Content, Content{Raw: item})
			}
		case "structuredContent":
			if r.Structured = value; string(value) == "null" {
				r.Structured = nil
			}
		case "isError":
			r.IsError = string(value) == "true"
		case "_meta":
			r.Meta = value
		}
	}
	return r, nil
}

// WholeResult is an MCP tools/call result that is passed through. raw is valid
// JSON and must not change afterwards; of it only isError is looked at.
func WholeResult(raw json.RawMessage) Result {
	r := Result{Whole: raw}
	for key, value := range jsonparts.Members(raw) {
		if key == "isError" {
			r.IsError = string(value) == "true"
		}
	}
	return r
}
