package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
)

// urlRequired is the error with which a server refuses a request until the user
// has opened a page (revision 2025-11-25, URL elicitation required).
const urlRequired = -32042

// maxPagesToOpen bounds how many pages one refusal may ask for.
const maxPagesToOpen = 8

// pagesWanted are the elicitation requests that a refusal holds, nil when it is
// another error, or when one of them is not about opening a page: a form has no
// place there, and the call must not be sent again for one.
func pagesWanted(err error) []json.RawMessage {
	var r *rpcError
	if !errors.As(err, &r) || r.code != urlRequired {
		return nil
	}
	data, _ := r.data.(map[string]any)
	list, _ := data["elicitations"].([]any)
	if len(list) > maxPagesToOpen {
		return nil
	}
	var pages []json.RawMessage
	for _, e := range list {
		fields, _ := e.(map[string]any)
		mode, _ := fields["mode"].(string)
		url, _ := fields["url"].(string)
		if mode != "url" || url == "" {
			return nil
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			return nil
		}
		pages = append(pages, raw)
	}
	return pages
}

// opened asks the user to open pages, one after the other, and reports whether
// every one was.
func (s *session) opened(ctx context.Context, pages []json.RawMessage) bool {
	for _, params := range pages {
		raw, rerr := s.answer(ctx, "elicitation/create", params)
		var got struct {
			Action string `json:"action"`
		}
		if rerr != nil || json.Unmarshal(raw, &got) != nil || got.Action != "accept" {
			return false
		}
	}
	return true
}
