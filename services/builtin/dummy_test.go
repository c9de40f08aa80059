package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk is a client of dummy-mcp that knows nothing but lines.
type talk struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error
}

func start(t *testing.T) *talk {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	k := &talk{t: t, in: inW, out: bufio.NewScanner(outR), done: make(chan error, 1)}
	k.out.Buffer(nil, 64<<20)
	go func() {
		err := ServeDummy(context.Background(), inR, outW)
		outW.Close()
		k.done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		go func() {
			for k.out.Scan() {
			}
		}()
		if err := <-k.done; err != nil {
			t.Error(err)
		}
	})
	return k
}

func (k *talk) send(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) line() string {
	k.t.Helper()
	if !k.out.Scan() {
		k.t.Fatalf("no answer: %v", k.out.Err())
	}
	return k.out.Text()
}

func TestDummyAnswers(t *testing.T) {
	k := start(t)
	for _, tt := range []struct{ ask, want string }{
		{`{"jsonrpc":"2.0","id":0,"method":"server/discover"}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{}}}`, `"protocolVersion":"2024-11-05"`},
		{`{"jsonrpc":"2.0","id":"two","method":"initialize","params":{"protocolVersion":"2099-01-01"}}`, `"id":"two","jsonrpc":"2.0","result":{"capabilities"`},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":4,"method":"ping"}`, `"result":{}`},
		{`{"jsonrpc":"2.0","id":5,"method":"resources/list"}`, `"code":-32601`},
		{`not json`, `"code":-32700`},
		{`[1,2]`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":6,"method":7}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"h\u00e9 <b>"}}}`, `"text":"hé `},
		{`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"echo"}}`, `message is missing`},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x","more":1}}}`, `unknown field`},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"add","arguments":{"a":0.5,"b":2}}}`, `"structuredContent":{"sum":2.5}`},
		{`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"add","arguments":{"a":"1","b":2}}}`, `"isError":true`},
		{`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"add","arguments":{"a":1.7e308,"b":1.7e308}}}`, `"isError":true`},
		{`{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"fail","arguments":{"message":"no"}}}`, `{"content":[{"text":"no","type":"text"}],"isError":true}`},
		{`{"jsonrpc":"2.0","id":14,"method":"tools/call","params":{"name":"slow","arguments":{"seconds":-1}}}`, `seconds must be`},
		{`{"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"big","arguments":{"bytes":99999999}}}`, `bytes must be`},
		{`{"jsonrpc":"2.0","id":16,"method":"tools/call","params":{"name":"nothing"}}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":[]}`, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":18,"method":"tools/list"}`, `"name":"image"`},
	} {
		k.send(tt.ask)
		if got := k.line(); !strings.Contains(got, tt.want) {
			t.Errorf("%s\n answered %.300s\n want it to hold %s", tt.ask, got, tt.want)
		}
	}
	// Notifications and stray answers get nothing.
	k.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	k.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	k.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	k.send(``)
	k.send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	if got := k.line(); !strings.Contains(got, `"last"`) {
		t.Errorf("a notification was answered: %s", got)
	}
}

func TestDummyDefinitionsAreOne(t *testing.T) {
	for _, d := range dummyTools {
		var def struct {
			Name        string
			Description string
			InputSchema struct{ Type string }
		}
		if err := json.Unmarshal([]byte(d.definition), &def); err != nil || def.Name != d.name || def.Description == "" || def.InputSchema.Type != "object" {
			t.Errorf("%s: %+v, %v", d.name, def, err)
		}
	}
}

func TestDummyProgressAndCancel(t *testing.T) {
	k := start(t)
	k.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"seconds":0.05,"steps":3},"_meta":{"progressToken":"p"}}}`)
	for i := 1; i <= 3; i++ {
		if got, want := k.line(), fmt.Sprintf(`"progress":%d,"progressToken":"p","total":3`, i); !strings.Contains(got, want) {
			t.Errorf("line %s, want %s", got, want)
		}
	}
	if got := k.line(); !strings.Contains(got, "done after") {
		t.Errorf("line %s", got)
	}
	k.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{"seconds":600}}}`)
	k.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := k.line(); !strings.Contains(got, `"id":3`) {
		t.Errorf("a call held up a ping: %s", got)
	}
	k.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	k.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	if got := k.line(); !strings.Contains(got, `"id":4`) {
		t.Errorf("a cancelled call was answered: %s", got)
	}
	// The end of the input ends what runs: Cleanup waits for it.
	k.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"seconds":600}}}`)
	k.send(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	k.line()
	began := time.Now()
	k.in.Close()
	err := <-k.done
	k.done <- err
	if took := time.Since(began); err != nil || took > 20*time.Second {
		t.Errorf("the end took %s, %v", took, err)
	}
}

func TestDummyBigAndImage(t *testing.T) {
	k := start(t)
	var r struct {
		Result struct {
			Content []struct{ Text, Data, MimeType string }
		}
	}
	k.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"bytes":1000001}}}`)
	if err := json.Unmarshal([]byte(k.line()), &r); err != nil || len(r.Result.Content[0].Text) != 1000001 {
		t.Errorf("big: %d bytes, %v", len(r.Result.Content[0].Text), err)
	}
	k.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"image"}}`)
	if err := json.Unmarshal([]byte(k.line()), &r); err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(r.Result.Content[1].Data)
	if err != nil || r.Result.Content[1].MimeType != "image/png" {
		t.Fatalf("%+v, %v", r.Result.Content[1], err)
	}
	if img, err := png.Decode(bytes.NewReader(b)); err != nil || img.Bounds().Dx() != 64 {
		t.Errorf("the picture: %v", err)
	}
}

func FuzzDummy(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`))
	f.Add([]byte("[]\n{\"id\":{},\"method\":\"ping\"}\n\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("slow")) {
			t.Skip("it would wait")
		}
		// It may also wait for a tool whose name is written with escapes.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var out bytes.Buffer
		_ = ServeDummy(ctx, bytes.NewReader(in), &out)
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("answered %q", line)
			}
		}
	})
}
