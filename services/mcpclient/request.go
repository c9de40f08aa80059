package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"zeroclaw/services"
)

// needs is the capability that a server declares for a method, by the part of
// its name before the slash.
var needs = map[string]string{"resources": "resources", "prompts": "prompts", "completion": "completions", "logging": "logging"}

// Request implements services.RequestPeer. A server that refuses a method which it
// declared gives its own error.
func (s *session) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	part, _, _ := strings.Cut(method, "/")
	if capability := needs[part]; capability != "" && !s.declared[capability] {
		return nil, fmt.Errorf("it %w %s", services.ErrUnsupported, capability)
	}
	fields := map[string]any{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &fields); err != nil {
			return nil, answerError{fmt.Errorf("the parameters of %s: %w", method, err)}
		}
	}
	return s.rounds(ctx, method, fields, nil)
}

// declares are the names of the capabilities that a server told of.
func declares(raw json.RawMessage) map[string]bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	out := map[string]bool{}
	for name, value := range fields {
		out[name] = string(value) != "null" && string(value) != "false"
	}
	return out
}
