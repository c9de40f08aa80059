package builtin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
	"time"
)

// dummyTool is one tool. run gets an object; an error becomes a result with
// isError, a *dummyError a protocol error.
type dummyTool struct {
	name, definition string
	run              func(ctx context.Context, args json.RawMessage, progress func(done, total int, message string)) (any, error)
}

// Limits of what the tools do.
const (
	maxSlowSeconds = 600
	maxSlowSteps   = 1000
	maxBigBytes    = 20 << 20
)

var dummyTools = []dummyTool{
	{"echo", `{"name":"echo","title":"Echo","description":"Returns the message.","inputSchema":{"type":"object","properties":{"message":{"type":"string","description":"Text to return"}},"required":["message"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`, runEcho},
	{"add", `{"name":"add","title":"Add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`, runAdd},
	{"slow", `{"name":"slow","title":"Slow","description":"Takes its time and reports progress; can be cancelled.","inputSchema":{"type":"object","properties":{"seconds":{"type":"number","minimum":0,"maximum":600,"default":5},"steps":{"type":"integer","minimum":1,"maximum":1000,"default":5}},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, runSlow},
	{"fail", `{"name":"fail","title":"Fail","description":"Always returns an error with the message.","inputSchema":{"type":"object","properties":{"message":{"type":"string","default":"it failed, as asked"}},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, runFail},
	{"big", `{"name":"big","title":"Big","description":"Returns a text of the given size in bytes, up to 20971520.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","minimum":0,"maximum":20971520}},"required":["bytes"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, runBig},
	{"image", `{"name":"image","title":"Image","description":"Returns a small picture.","inputSchema":{"type":"object","properties":{},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, runImage},
}

func textResult(text string, isError bool) map[string]any {
	r := map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	if isError {
		r["isError"] = true
	}
	return r
}

// arguments decodes what a tool was given, refusing what it does not know.
func arguments(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func runEcho(_ context.Context, raw json.RawMessage, _ func(int, int, string)) (any, error) {
	var a struct {
		Message *string `json:"message"`
	}
	if err := arguments(raw, &a); err != nil {
		return nil, err
	}
	if a.Message == nil {
		return nil, errors.New("arguments: message is missing")
	}
	return textResult(*a.Message, false), nil
}

func runAdd(_ context.Context, raw json.RawMessage, _ func(int, int, string)) (any, error) {
	var a struct {
		A *float64 `json:"a"`
		B *float64 `json:"b"`
	}
	if err := arguments(raw, &a); err != nil {
		return nil, err
	}
	if a.A == nil || a.B == nil {
		return nil, errors.New("arguments: a and b are needed")
	}
	sum := *a.A + *a.B
	text := strconv.FormatFloat(sum, 'g', -1, 64)
	if _, err := json.Marshal(sum); err != nil {
		return nil, fmt.Errorf("the sum %s is no JSON number", text)
	}
	r := textResult(text, false)
	r["structuredContent"] = map[string]any{"sum": sum}
	return r, nil
}

func runSlow(ctx context.Context, raw json.RawMessage, progress func(int, int, string)) (any, error) {
	a := struct {
		Seconds float64 `json:"seconds"`
		Steps   int     `json:"steps"`
	}{5, 5}
	if err := arguments(raw, &a); err != nil {
		return nil, err
	}
	if !(a.Seconds >= 0 && a.Seconds <= maxSlowSeconds) || a.Steps < 1 || a.Steps > maxSlowSteps {
		return nil, fmt.Errorf("arguments: seconds must be 0 to %d, steps 1 to %d", maxSlowSeconds, maxSlowSteps)
	}
	began := time.Now()
	pause := time.Duration(a.Seconds * float64(time.Second) / float64(a.Steps))
	for i := 1; i <= a.Steps; i++ {
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, errors.New("cancelled")
		case <-t.C:
		}
		progress(i, a.Steps, fmt.Sprintf("step %d of %d", i, a.Steps))
	}
	return textResult(fmt.Sprintf("done after %.1f s", time.Since(began).Seconds()), false), nil
}

func runFail(_ context.Context, raw json.RawMessage, _ func(int, int, string)) (any, error) {
	a := struct {
		Message string `json:"message"`
	}{"it failed, as asked"}
	if err := arguments(raw, &a); err != nil {
		return nil, err
	}
	return textResult(a.Message, true), nil
}

func runBig(_ context.Context, raw json.RawMessage, _ func(int, int, string)) (any, error) {
	var a struct {
		Bytes *int `json:"bytes"`
	}
	if err := arguments(raw, &a); err != nil {
		return nil, err
	}
	if a.Bytes == nil || *a.Bytes < 0 || *a.Bytes > maxBigBytes {
		return nil, fmt.Errorf("arguments: bytes must be 0 to %d", maxBigBytes)
	}
	const line = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXY\n"
	return textResult(strings.Repeat(line, *a.Bytes/len(line)+1)[:*a.Bytes], false), nil
}

func runImage(_ context.Context, raw json.RawMessage, _ func(int, int, string)) (any, error) {
	var a struct{}
	if err := arguments(raw, &a); err != nil {
		return nil, err
	}
	const side = 64
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			c := color.RGBA{uint8(x * 4), uint8(y * 4), 160, 255}
			if dx, dy := x-side/2, y-side/2; dx*dx+dy*dy < 400 {
				c = color.RGBA{255, uint8(200 - y), 40, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return map[string]any{"content": []any{
		map[string]any{"type": "text", "text": "A picture of 64 by 64 pixels."},
		map[string]any{"type": "image", "mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(b.Bytes())},
	}}, nil
}
