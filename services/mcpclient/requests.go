package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
)

// maxAsked bounds how many requests of one server are being answered at a time.
const maxAsked = 16

// requested answers a request of the server. The transport calls it in a
// goroutine of its own.
func (s *session) requested(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if s.asked.Add(1) > maxAsked {
		s.asked.Add(-1)
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, "too many requests at a time", nil), nil
	}
	defer s.asked.Add(-1)
	params, err := json.Marshal(r.Params)
	if err != nil {
		return nil, err
	}
	result, rerr := s.answer(ctx, r.Method, params)
	if rerr != nil {
		return transport.NewJSONRPCErrorResponse(r.ID, rerr.code, rerr.message, nil), nil
	}
	return transport.NewJSONRPCResultResponse(r.ID, result), nil
}

// answer is our answer to a request of the server, in whichever way it came.
func (s *session) answer(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *rpcError) {
	switch method {
	case "ping":
		return json.RawMessage(`{}`), nil
	case "roots/list":
		if s.hooks.Roots == nil {
			break
		}
		roots := s.hooks.Roots()
		if roots == nil {
			roots = []services.Root{}
		}
		b, err := json.Marshal(map[string]any{"roots": roots})
		if err != nil {
			return nil, &rpcError{code: mcp.INTERNAL_ERROR, message: err.Error()}
		}
		return b, nil
	case "sampling/createMessage", "elicitation/create":
		if s.hooks.Ask == nil {
			break
		}
		b, err := s.hooks.Ask(ctx, method, params)
		if err != nil {
			return nil, &rpcError{code: mcp.INTERNAL_ERROR, message: err.Error()}
		}
		if method != "elicitation/create" {
			return b, nil
		}
		whole, err := completed(params, b)
		if err != nil {
			s.hooks.Log("companion", "an answer to its question was not sent: "+err.Error())
			return json.RawMessage(`{"action":"cancel"}`), nil
		}
		return whole, nil
	}
	s.hooks.Log("companion", fmt.Sprintf("refused its request %s: this client does not offer it", services.Shown(method, 100)))
	return nil, &rpcError{code: mcp.METHOD_NOT_FOUND, message: fmt.Sprintf("method %s is not offered by this client", services.Clip(method, 100))}
}

// Limits of a call that needs several rounds.
const (
	maxRounds      = 10
	maxInputs      = 16
	resultRequired = "input_required"
)

// rounds sends a request of the modern era again with answers for as long as
// the server asks for input instead of answering (SEP-2322). Revisions before
// it never do.
func (s *session) rounds(ctx context.Context, method string, params map[string]any, progress services.Progress) (json.RawMessage, error) {
	if t := services.ThroughFrom(ctx); t != nil && mcp.IsModernProtocol(s.version) {
		if t.Responses != nil {
			params["inputResponses"] = t.Responses
		}
		if t.State != nil {
			params["requestState"] = t.State
		}
		return s.request(ctx, method, params, progress)
	}
	for range maxRounds {
		raw, err := s.request(ctx, method, params, progress)
		if err != nil || !mcp.IsModernProtocol(s.version) {
			return raw, err
		}
		var r struct {
			Type     string `json:"resultType"`
			State    any    `json:"requestState"`
			Requests map[string]struct {
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			} `json:"inputRequests"`
		}
		// A result of another shape is the caller's business.
		if json.Unmarshal(raw, &r) != nil || r.Type != resultRequired {
			return raw, nil
		}
		if len(r.Requests) > maxInputs {
			return nil, answerError{fmt.Errorf("the server asks for %d inputs at a time, at most %d are given", len(r.Requests), maxInputs)}
		}
		inputs := map[string]json.RawMessage{}
		for id, q := range r.Requests {
			result, rerr := s.answer(ctx, q.Method, q.Params)
			if rerr != nil {
				return nil, answerError{fmt.Errorf("the server needs input that was not given: %s", rerr.message)}
			}
			inputs[id] = result
		}
		params["inputResponses"] = inputs
		delete(params, "requestState")
		if r.State != nil {
			params["requestState"] = r.State
		}
	}
	return nil, answerError{fmt.Errorf("the server asked for input %d times without answering", maxRounds)}
}
