package results

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// dropped is a store that keeps nothing.
type dropped struct{}

func (dropped) PutFrom(_ context.Context, _, _ string, r io.Reader) (string, error) {
	_, err := io.Copy(io.Discard, r)
	return "res1", err
}

// peak runs f and returns by how many bytes the memory that Go holds for its
// heap (live and not yet collected) grew at most meanwhile.
func peak(tb testing.TB, f func()) uint64 {
	tb.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	base, top := read(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Microsecond):
				top = max(top, read())
			}
		}
	}()
	f()
	close(stop)
	<-done
	return max(top, base) - base
}

// answer is a tools/call result of one text of n bytes, line by line.
func answer(n int) json.RawMessage {
	const line = `{\"id\":12345,\"name\":\"a record\",\"tags\":[\"one\",\"two\"]}\n`
	return json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat(line, n/len(line)) + `"}],"isError":false}`)
}

// BenchmarkPeak measures by how much finishing texts of 15 MiB grows the heap,
// beyond the answers themselves.
func BenchmarkPeak(b *testing.B) {
	redact := func(s string) string { return s } // as services/secrets does where it finds nothing
	f := New(Config{Objects: dropped{}, Redact: redact, Rand: rand.Reader})
	spec := tools.Spec{Name: "s__t", Server: "s", Origin: permissions.OriginServer}
	for name, n := range map[string]int{"one": 1, "eight": 8} {
		b.Run(name, func(b *testing.B) {
			var top uint64
			raws := make([]json.RawMessage, n)
			for i := range raws {
				raws[i] = answer(15 << 20)
			}
			for b.Loop() {
				top = max(top, peak(b, func() {
					var wg sync.WaitGroup
					for _, raw := range raws {
						wg.Go(func() {
							result, err := tools.ResultOf(raw)
							if err != nil {
								b.Error(err)
								return
							}
							var out tools.Outcome
							f.Finish(b.Context(), tools.Call{}, spec, result, &out)
							_, _ = io.Discard.Write(out.Content[0])
						})
					}
					wg.Wait()
				}))
			}
			b.ReportMetric(float64(top)/(1<<20), "peak-MiB")
		})
	}
}
