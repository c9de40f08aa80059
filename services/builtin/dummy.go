package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// maxRequest bounds one line that dummy-mcp reads.
const maxRequest = 32 << 20

// dummyVersions are the MCP revisions that dummy-mcp speaks, newest first.
var dummyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Error codes of JSON-RPC 2.0, section 5.1.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
)

type dummyRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type dummyError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *dummyError) Error() string { return e.Message }

type dummyServer struct {
	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	running map[string]context.CancelFunc // calls by id
	calls   sync.WaitGroup
}

// ServeDummy answers MCP requests, one JSON value a line, until in ends or ctx
// is done, then cancels what still runs and returns when it has ended. A read
// that waits is not interrupted by ctx: close in for that. The error is one of
// reading or writing.
func ServeDummy(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &dummyServer{out: out, running: map[string]context.CancelFunc{}}
	defer s.calls.Wait()
	defer cancel()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxRequest)
	for ctx.Err() == nil && lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := s.take(ctx, append([]byte(nil), lines.Bytes()...)); err != nil {
			return fmt.Errorf("dummy-mcp: writing an answer: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("dummy-mcp: reading a request: %w", err)
	}
	return nil
}

func (s *dummyServer) take(ctx context.Context, line []byte) error {
	var r dummyRequest
	if err := json.Unmarshal(line, &r); err != nil {
		code := codeInvalidRequest
		if !json.Valid(line) {
			code = codeParse
		}
		return s.reply(json.RawMessage("null"), nil, &dummyError{code, "the line is no JSON-RPC request: " + err.Error()})
	}
	notification := len(r.ID) == 0 || string(r.ID) == "null"
	switch {
	case r.Method == "" && !notification:
		// An answer; nothing was asked.
		return nil
	case r.Method == "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(r.Params, &p) == nil {
			s.mu.Lock()
			if stop := s.running[string(p.RequestID)]; stop != nil {
				stop()
			}
			s.mu.Unlock()
		}
		return nil
	case notification:
		return nil
	case r.Method == "tools/call":
		s.call(ctx, r)
		return nil
	}
	result, err := s.answer(r)
	return s.reply(r.ID, result, err)
}

func (s *dummyServer) answer(r dummyRequest) (any, *dummyError) {
	switch r.Method {
	case "initialize":
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Params, &p) != nil || p.ProtocolVersion == "" {
			return nil, &dummyError{codeInvalidParams, "protocolVersion is missing"}
		}
		version := dummyVersions[0]
		if slices.Contains(dummyVersions, p.ProtocolVersion) {
			version = p.ProtocolVersion
		}
		return map[string]any{
			"protocolVersion": version,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "dummy-mcp", "version": "1"},
			"instructions":    "A server for trying things out. Its tools change nothing.",
		}, nil
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		list := make([]json.RawMessage, 0, len(dummyTools))
		for _, t := range dummyTools {
			list = append(list, json.RawMessage(t.definition))
		}
		return map[string]any{"tools": list}, nil
	}
	return nil, &dummyError{codeNoMethod, fmt.Sprintf("dummy-mcp has no method %q", r.Method)}
}

// call runs a tool beside the reading of further requests.
func (s *dummyServer) call(ctx context.Context, r dummyRequest) {
	ctx, cancel := context.WithCancel(ctx)
	id := string(r.ID)
	s.mu.Lock()
	s.running[id] = cancel
	s.mu.Unlock()
	s.calls.Go(func() {
		result, err := s.run(ctx, r.Params)
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		stopped := ctx.Err() != nil
		cancel()
		if stopped {
			// A cancelled request gets no answer.
			return
		}
		// A write that fails ends the reading loop at its next answer.
		_ = s.reply(r.ID, result, err)
	})
}

func (s *dummyServer) run(ctx context.Context, params json.RawMessage) (any, *dummyError) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &dummyError{codeInvalidParams, "params: " + err.Error()}
	}
	i := slices.IndexFunc(dummyTools, func(t dummyTool) bool { return t.name == p.Name })
	if i < 0 {
		return nil, &dummyError{codeInvalidParams, fmt.Sprintf("dummy-mcp has no tool %q", p.Name)}
	}
	if len(p.Arguments) == 0 {
		p.Arguments = json.RawMessage(`{}`)
	}
	result, err := dummyTools[i].run(ctx, p.Arguments, func(done, total int, message string) {
		if len(p.Meta.ProgressToken) == 0 {
			return
		}
		_ = s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{
			"progressToken": p.Meta.ProgressToken, "progress": done, "total": total, "message": message}})
	})
	var wrong *dummyError
	switch {
	case errors.As(err, &wrong):
		return nil, wrong
	case err != nil:
		return textResult(err.Error(), true), nil
	}
	return result, nil
}

func (s *dummyServer) reply(id json.RawMessage, result any, err *dummyError) error {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if err != nil {
		m["error"] = err
	} else {
		m["result"] = result
	}
	return s.write(m)
}

func (s *dummyServer) write(m map[string]any) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err = s.out.Write(append(b, '\n'))
	return err
}
