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

// pagesIn are the elicitation requests that a refusal holds, nil when it is
// another error.
func pagesIn(err error) []json.RawMessage {
	var r *rpcError
	if !errors.As(err, &r) || r.code != urlRequired {
		return nil
	}
	raw, err := json.Marshal(r.data)
	if err != nil {
		return nil
	}
	var data struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if json.Unmarshal(raw, &data) != nil || len(data.Elicitations) > maxPagesToOpen {
		return nil
	}
	return data.Elicitations
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
