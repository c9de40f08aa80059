package mcpclient

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestLineWithoutEndStaysBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("pushes 500 MB through a pipe")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newRig()
	if _, err := New(testConfig()).Connect(ctx, peerSpec(t, "x", "nonewline"), r.hooks); err == nil {
		t.Fatal("connected")
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 100<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestBigAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "idfirst"} {
		t.Run(kind, func(t *testing.T) {
			p, r := dial(t, kind, nil)
			if got, err := call(t, p, "big", `{"Bytes":5000000}`); err != nil || len(got) != 5000000 {
				t.Fatalf("5 MB: %d bytes, %v", len(got), err)
			}
			began := time.Now()
			_, err := call(t, p, "big", `{"Bytes":16777216}`)
			if err == nil || !strings.Contains(err.Error(), "at most 16777216") {
				t.Errorf("16 MiB: err = %v, want one that names the limit", err)
			}
			if took := time.Since(began); took > slowdown*8*time.Second {
				t.Errorf("the error took %s", took)
			}
			r.wait(t, "companion: the answer of the server has")
			if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
				t.Errorf("afterwards echo = %q, %v", got, err)
			}
		})
	}
}

func TestStrangeAnswersAreDropped(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	got, err := call(t, p, "strange", `{}`)
	if err != nil || got != `{"content":[], "n":1.0e2}` {
		t.Errorf("strange = %q, %v, want the bytes of the first right answer", got, err)
	}
	r.wait(t, "nobody waits for (id 99999)")
	r.wait(t, "nobody waits for (id 77777)")
	if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
		t.Errorf("afterwards echo = %q, %v", got, err)
	}
}

func TestBrokenAnswerEndsWithTheCallersTime(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := p.Call(ctx, "badjson", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	r.wait(t, `stdout: {"jsonrpc":"2.0"`)
}

func TestFloodOfNotifications(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "plain", nil)
	if got, err := call(t, p, "chatty", `{}`); err != nil || got != "quiet" {
		t.Errorf("chatty = %q, %v", got, err)
	}
}

func TestFloodOnStderr(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "stderr", nil)
	for range 5 {
		began := time.Now()
		if _, err := call(t, p, "echo", `{}`); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > slowdown*time.Second {
			t.Errorf("a call took %s", took)
		}
	}
}

func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "noread", nil)
	if _, err := p.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.(*stdioPeer).out.stall = 300 * time.Millisecond
	began := time.Now()
	_, err := call(t, p, "echo", `{"x":"`+strings.Repeat("y", 10<<20)+`"}`)
	if err == nil || !strings.Contains(err.Error(), "has not read its input") {
		t.Errorf("err = %v", err)
	}
	if took := time.Since(began); took > slowdown*10*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := <-r.closed; err == nil {
		t.Error("no reason was reported")
	}
}
