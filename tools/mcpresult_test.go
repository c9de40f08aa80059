package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestResultOf(t *testing.T) {
	r, err := ResultOf(json.RawMessage(` {"content":[{"type":"text","text":"a"}, 42 ],"structuredContent":null,"isError":true,"_meta":{"x":1}}`))
	if err != nil || len(r.Content) != 2 || string(r.Content[1].Raw) != "42" || r.Structured != nil || !r.IsError || string(r.Meta) != `{"x":1}` {
		t.Errorf("read as %+v, %v", r, err)
	}
	if _, err := ResultOf(json.RawMessage(`{"content":[`)); err == nil {
		t.Error("half a result was read")
	}
	many := `{"content":[` + strings.Repeat(`1,`, 20_000) + `1]}`
	if r, _ := ResultOf(json.RawMessage(many)); len(r.Content) != maxItems+1 || !strings.Contains(r.Content[maxItems].Text, "left out") {
		t.Errorf("%d items", len(r.Content))
	}
}
