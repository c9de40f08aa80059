package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCompleted(t *testing.T) {
	t.Parallel()
	const form = `{"message":"?","requestedSchema":{"type":"object","properties":{
		"name":{"type":"string","default":"John","minLength":2,"maxLength":5},
		"age":{"type":"integer","default":30,"minimum":0,"maximum":150},
		"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["on","off"],"default":"on"},
		"titled":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"b"},
		"several":{"type":"array","items":{"enum":["x","y"]},"maxItems":1,"default":["y"]},
		"sure":{"type":"boolean","default":false},
		"bad":{"type":"integer","default":"no number"},
		"must":{"type":"string"}},"required":["must"]}}`
	const rest = `"must":"1"`
	for _, tt := range []struct{ name, content, want string }{
		{"all left out", `{"must":"1"}`, `{"age":30,"must":"1","name":"John","score":95.5,"several":["y"],"status":"on","sure":false,"titled":"b"}`},
		{"some given", `{"must":"1","name":"Eve","age":1,"score":2,"status":"off","titled":"a","several":[],"sure":true,"bad":5}`, `{"must":"1","name":"Eve","age":1,"score":2,"status":"off","titled":"a","several":[],"sure":true,"bad":5}`},
		{"required", `{}`, "error: must"},
		{"no content", `null`, "error: must"},
		{"not asked for", `{"must":"1","other":1}`, "error: other"},
		{"wrong type", `{` + rest + `,"name":1}`, "error: name"},
		{"too short", `{` + rest + `,"name":"é"}`, "error: name"},
		{"too long", `{` + rest + `,"name":"abcdef"}`, "error: name"},
		{"umlauts", `{` + rest + `,"name":"äöüßé"}`, "ok"},
		{"no integer", `{` + rest + `,"age":1.5}`, "error: age"},
		{"too large", `{` + rest + `,"age":151}`, "error: age"},
		{"too small", `{` + rest + `,"age":-1}`, "error: age"},
		{"text for a number", `{` + rest + `,"score":"1"}`, "error: score"},
		{"null", `{` + rest + `,"score":null}`, "error: score"},
		{"no choice", `{` + rest + `,"status":"maybe"}`, "error: status"},
		{"no titled choice", `{` + rest + `,"titled":"A"}`, "error: titled"},
		{"list", `{` + rest + `,"several":["x"]}`, "ok"},
		{"no list", `{` + rest + `,"several":"x"}`, "error: several"},
		{"too many", `{` + rest + `,"several":["x","y"]}`, "error: several"},
		{"no such item", `{` + rest + `,"several":["z"]}`, "error: several"},
		{"text for a boolean", `{` + rest + `,"sure":"true"}`, "error: sure"},
		{"an object", `{` + rest + `,"sure":{}}`, "error: sure"},
	} {
		got, err := completed(json.RawMessage(form), json.RawMessage(`{"action":"accept","content":`+tt.content+`}`))
		if field, fails := strings.CutPrefix(tt.want, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), `"`+field+`"`) {
				t.Errorf("%s: %s, %v", tt.name, got, err)
			}
			continue
		}
		var r struct{ Content json.RawMessage }
		if err != nil || json.Unmarshal(got, &r) != nil || tt.want != "ok" && string(r.Content) != tt.want {
			t.Errorf("%s = %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ params, result, want string }{
		{form, `{"action":"decline"}`, `{"action":"decline"}`},
		{form, `{"action":"cancel","content":{"age":"x"}}`, `{"action":"cancel","content":{"age":"x"}}`},
		{`{"mode":"url","url":"https://x"}`, `{"action":"accept"}`, `{"action":"accept"}`},
		{`{"message":"no schema"}`, `{"action":"accept","content":{"a":1}}`, `{"action":"accept","content":{"a":1}}`},
		{form, `[]`, ""},
		{`[]`, `{"action":"accept"}`, ""},
		{`{"requestedSchema":{"properties":{"a":{"type":"string","default":"d"}}}}`, `{"action":"accept","_meta":{"k":1}}`, `{"_meta":{"k":1},"action":"accept","content":{"a":"d"}}`},
	} {
		got, err := completed(json.RawMessage(tt.params), json.RawMessage(tt.result))
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("completed(%s) = %s, %v, want %s", tt.result, got, err, tt.want)
		}
	}
}
