package meta

import (
	"context"
	"encoding/json"
	"fmt"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/results"
)

// Stored reads what results.Objects has put away.
type Stored interface {
	// Text returns the stored text of one owner from a byte offset, at most
	// limit bytes cut at a rune, and the size of all of it.
	Text(ctx context.Context, owner, id string, offset, limit int64) (text string, total int64, err error)
}

// ReadToolResult is the tool read_tool_result: it pages through a result that
// was too long for the model.
type ReadToolResult struct{ Stored Stored }

var readToolResultSchema = json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["id"],"properties":{
"id":{"type":"string","description":"Id given in the shortened result"},
"offset":{"type":"integer","minimum":0,"default":0,"description":"Byte to start at"},
"limit":{"type":"integer","minimum":1,"maximum":%[1]d,"default":%[2]d,"description":"Bytes to return, at most %[1]d"}}}`, maxRead, defaultRead))

const (
	maxRead     = results.DefaultMaxChars - 1024 // leaves room for the line that says where one is
	defaultRead = 16384
)

// Spec implements tools.Tool.
func (ReadToolResult) Spec() tools.Spec {
	return tools.Spec{
		Name: "read_tool_result", OwnName: "read_tool_result", Origin: permissions.OriginLocal, Title: "Read a stored result",
		Description: "Reads the rest of a tool result that was shortened. Takes the id from the shortened result and a byte offset; says how much there is and where the next part starts.",
		InputSchema: readToolResultSchema,
	}
}

// Run implements tools.Tool.
func (t ReadToolResult) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	in := struct {
		ID     string `json:"id"`
		Offset int64  `json:"offset"`
		Limit  int64  `json:"limit"`
	}{Limit: defaultRead}
	if err := json.Unmarshal(args, &in); err != nil {
		return tools.Result{}, fmt.Errorf("read a stored result: %w", err)
	}
	pass, ok := tools.PassFrom(ctx)
	if !ok {
		return tools.Result{}, fmt.Errorf("read a stored result: the call did not come through the gate")
	}
	text, total, err := t.Stored.Text(ctx, pass.Owner, in.ID, in.Offset, in.Limit)
	if err != nil {
		return tools.Result{}, fmt.Errorf("read stored result %q: %w", in.ID, err)
	}
	next := in.Offset + int64(len(text))
	where := fmt.Sprintf("[bytes %d to %d of %d; the end]", in.Offset, next, total)
	if next < total {
		where = fmt.Sprintf("[bytes %d to %d of %d; the next part starts at offset %d]", in.Offset, next, total, next)
	}
	return tools.Text(text + "\n" + where), nil
}
