package mcpclient

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/services"
)

// R015, and answers that are too long in every form.
func TestTooLong(t *testing.T) {
	t.Parallel()
	const limit = 100 << 10
	long := strings.Repeat("a", limit)
	stopped := make(chan struct{})
	var once sync.Once
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"told": func(c stubCall) { c.text(long) },
		"chunk": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			flush(c.w)
			fmt.Fprint(c.w, c.answer(long))
		},
		"event": func(c stubCall) { c.events(); c.event(c.answer(long)) },
		"endless body": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			for c.r.Context().Err() == nil {
				fmt.Fprint(c.w, long)
			}
		},
		"endless line": func(c stubCall) {
			c.events()
			fmt.Fprint(c.w, "data: ")
			for c.r.Context().Err() == nil {
				if _, err := fmt.Fprint(c.w, long); err != nil {
					break
				}
			}
			once.Do(func() { close(stopped) })
		},
		// The rest of an event that is too long is no event.
		"suffix": func(c stubCall) {
			c.events()
			fmt.Fprintf(c.w, "data: %s\ndata: %s\n\n", long+"a", c.answer("the suffix"))
			c.event(c.answer("the real one"))
		},
		"notification": func(c stubCall) {
			c.events()
			c.event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + long + `"}}`)
			time.Sleep(lateGrace + 500*time.Millisecond)
			c.event(c.answer("after it"))
		},
		"fits": func(c stubCall) { c.events(); c.event(c.answer(long[:limit-200])) },
	}})
	p, _ := reach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.MaxResponseBytes = limit })
	for _, name := range []string{"told", "chunk", "event", "endless body", "endless line"} {
		began := time.Now()
		_, err := call(t, p, name, `{}`)
		if err == nil || !strings.Contains(err.Error(), "max_response_bytes") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > slowdown*3*time.Second {
			t.Errorf("%s: the error took %s", name, took)
		}
		if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
			t.Errorf("after %s: %q, %v", name, got, err)
		}
	}
	select {
	case <-stopped:
	case <-time.After(slowdown * time.Second):
		t.Error("the endless line goes on")
	}
	for name, want := range map[string]string{"suffix": "the real one", "notification": "after it", "fits": long[:limit-200]} {
		if got, err := call(t, p, name, `{}`); err != nil || got != want {
			t.Errorf("%s = %.100q, %v", name, got, err)
		}
	}
}

// The default limit, as in the public cases: 17 MB fail, with a higher limit
// they come through.
func TestSeventeenMegabytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("b", 17<<20)
	s := newStub(t, &stub{tools: map[string]func(stubCall){"long": func(c stubCall) {
		c.w.Header().Set("Content-Type", "application/json")
		flush(c.w)
		fmt.Fprint(c.w, c.answer(long))
	}}})
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	_, err := call(t, p, "long", `{}`)
	holds(t, err, "16078168", "max_response_bytes")
	if _, err := call(t, p, "echo", `{}`); err != nil {
		t.Error(err)
	}
	p, _ = reach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.MaxResponseBytes = 20 << 20 })
	if got, err := call(t, p, "long", `{}`); err != nil || got != long {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// Eight answers of 15 MB at a time: what this layer holds beside the results.
func TestMemoryOfLongAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	const size, at = 15_000_000, 8
	long := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("c", size) + `"}]}`)
	put := func(c stubCall, prefix string) {
		fmt.Fprintf(c.w, `%s{"jsonrpc":"2.0","id":%s,"result":`, prefix, c.id)
		_, _ = c.w.Write(long)
		fmt.Fprint(c.w, "}\n\n")
	}
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"json": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.Header().Set("Content-Length", fmt.Sprint(len(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":`, c.id))+len(long)+3))
			put(c, "")
		},
		"chunked": func(c stubCall) { c.w.Header().Set("Content-Type", "application/json"); flush(c.w); put(c, "") },
		"event":   func(c stubCall) { c.events(); put(c, "data: ") },
	}})
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	for _, tool := range []string{"json", "chunked", "event"} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var peak atomic.Uint64
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}()
		var wg sync.WaitGroup
		for range at {
			wg.Go(func() {
				res, err := p.Call(t.Context(), tool, nil, nil)
				if err != nil || !bytes.Equal(res.Raw, long) {
					t.Errorf("%s: %d bytes, %v", tool, len(res.Raw), err)
				}
			})
		}
		wg.Wait()
		close(done)
		runtime.ReadMemStats(&after)
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / (size * at)
		t.Logf("%s: allocated %.2f times what came, at most %d MB in use", tool, allocated, peak.Load()>>20)
		if limit := map[string]float64{"json": 1.2}[tool]; allocated > max(limit, 2.3) || limit > 0 && allocated > limit {
			t.Errorf("%s: allocated %.2f times the answers", tool, allocated)
		}
	}
}
