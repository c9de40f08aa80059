package meta

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"zeroclaw/tools"
)

// kept is a store of one text for one owner.
type kept string

func (k kept) Text(_ context.Context, owner, id string, offset, limit int64) (string, int64, error) {
	if owner != "conversation" || id != "r1" {
		return "", 0, errors.New("it does not exist")
	}
	return string(k[offset:min(offset+limit, int64(len(k)))]), int64(len(k)), nil
}

func TestReadToolResult(t *testing.T) {
	tool := ReadToolResult{Stored: kept(strings.Repeat("x", 1000))}
	in := tools.WithPass(t.Context(), &tools.Pass{Owner: "conversation"})
	tests := []struct {
		args string
		want string // in the text, or in the error
		size int    // of the part, without the line that says where one is
	}{
		{`{"id":"r1","limit":400}`, "the next part starts at offset 400", 400},
		{`{"id":"r1","offset":400,"limit":400}`, "the next part starts at offset 800", 400},
		{`{"id":"r1","offset":800,"limit":400}`, "bytes 800 to 1000 of 1000; the end", 200},
		{`{"id":"r1"}`, "the end", 1000},
		{`{"id":"r2"}`, "it does not exist", 0},
	}
	for _, tt := range tests {
		got, err := tool.Run(in, json.RawMessage(tt.args))
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run(%s) = %v, want %q", tt.args, err, tt.want)
			}
			continue
		}
		part, where, _ := strings.Cut(got.Content[0].Text, "\n")
		if len(part) != tt.size || !strings.Contains(where, tt.want) {
			t.Errorf("Run(%s) = %d bytes and %q, want %d and %q", tt.args, len(part), where, tt.size, tt.want)
		}
	}
}

func TestReadToolResultNeedsTheGate(t *testing.T) {
	if _, err := (ReadToolResult{Stored: kept("x")}).Run(t.Context(), json.RawMessage(`{"id":"r1"}`)); err == nil {
		t.Error("it ran without a pass")
	}
	if _, err := (ReadToolResult{Stored: kept("x")}).Run(tools.WithPass(t.Context(), &tools.Pass{Owner: "another"}), json.RawMessage(`{"id":"r1"}`)); err == nil {
		t.Error("another conversation's result was read")
	}
}

func TestSchemaFitsItself(t *testing.T) {
	var s tools.Schemas
	schema := ReadToolResult{}.Spec().InputSchema
	for args, ok := range map[string]bool{`{"id":"x"}`: true, `{}`: false, `{"id":"x","limit":0}`: false, `{"id":"x","all":true}`: false} {
		if err := s.Check(schema, json.RawMessage(args)); (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
	}
}
