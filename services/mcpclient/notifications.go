package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func (s *session) notify(method string, params map[string]any) {
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
	defer cancel()
	err := s.wire.SendNotification(ctx, mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{Method: method, Params: mcp.NotificationParams{AdditionalFields: params}}})
	if err != nil && s.ctx.Err() == nil {
		s.hooks.Log("companion", fmt.Sprintf("sending %s failed: %v", method, err))
	}
}

// notified takes a notification of the server. It runs on the transport's read
// loop: it must not wait for anything.
func (s *session) notified(n mcp.JSONRPCNotification) {
	fields := n.Params.AdditionalFields
	switch n.Method {
	case "notifications/progress":
		s.progressed(fields)
	case "notifications/tools/list_changed":
		s.hooks.ToolsChanged()
	case "notifications/message":
		text, ok := fields["data"].(string)
		if !ok {
			b, err := json.Marshal(fields["data"])
			if err != nil {
				return
			}
			text = string(b)
		}
		s.hooks.Log("server", fmt.Sprintf("%v: %s", fields["level"], text))
		s.pass(n)
	case "notifications/resources/updated", "notifications/resources/list_changed", "notifications/prompts/list_changed":
		s.pass(n)
	}
}

// pass hands a notification on.
func (s *session) pass(n mcp.JSONRPCNotification) {
	if s.hooks.Notified == nil {
		return
	}
	fields := n.Params.AdditionalFields
	if fields == nil {
		fields = map[string]any{}
	}
	if text, err := json.Marshal(fields); err == nil {
		s.hooks.Notified(n.Method, text)
	}
}
