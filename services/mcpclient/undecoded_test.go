package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestNothingBigIsDecoded: what the transport would decode into many times its
// size does not reach it, and whoever waits gets an answer.
func TestNothingBigIsDecoded(t *testing.T) {
	zeros := "[" + strings.Repeat("0,", 4<<20) + "0]"
	for _, tt := range []struct{ name, line, passed, overlong string }{
		{"error", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m","data":%s}}`, zeros), "", "7"},
		{"notification", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%s}}`, zeros), "", ""},
		{"request", fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":%s}}`, zeros), `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage"}` + "\n", ""},
		{"error beside a result", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"m","data":%s}}`, zeros), "", "7"},
		{"request beside a result", fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","result":{},"params":{"messages":%s}}`, zeros), `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage"}` + "\n", ""},
		{"batch", zeros, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var to bytes.Buffer
			var told string
			f := &messageFilter{limit: maxLine, log: func(string) {},
				other:    func(_ message, raw []byte) { passedOn(&to, raw) },
				answer:   func(id string, _, failed json.RawMessage) bool { answeredOn(&to, id, failed); return true },
				overlong: func(id string, _, _ int64) { told = id }}
			line := []byte(tt.line + "\n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := f.Write(line); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if to.String() != tt.passed || told != tt.overlong {
				t.Errorf("passed %.100q, told of %q; want %q and %q", to.String(), told, tt.passed, tt.overlong)
			}
			if grew := after.TotalAlloc - before.TotalAlloc; grew > uint64(3*len(line)) {
				t.Errorf("%d bytes were allocated for a line of %d", grew, len(line))
			}
		})
	}
}

func TestScanElements(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
		ok   bool
	}{{`[]`, 0, true}, {` [ 1 , "a,]" , [2,3] ,{"x":[1]} ] `, 4, true}, {`[1,2,3,4,5,6]`, 5, false}, {`{}`, 0, false}, {``, 0, false}} {
		if got, ok := scanElements([]byte(tt.in), 5); len(got) != tt.want || ok != tt.ok {
			t.Errorf("scanElements(%q) = %q, %v", tt.in, got, ok)
		}
	}
}
