package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"zeroclaw/services"
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
	}
}

func (s *session) progressed(fields map[string]any) {
	token, ok := fields["progressToken"].(float64)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.pending[strconv.FormatInt(int64(token), 10)]
	if x == nil {
		return
	}
	done, _ := fields["progress"].(float64)
	total, _ := fields["total"].(float64)
	message, _ := fields["message"].(string)
	x.latest, x.news = progressNews{done, total, services.Shown(message, 2000)}, true
	select {
	case x.progress <- struct{}{}:
	default:
	}
}
