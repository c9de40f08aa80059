package relay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Each piece reaches the page when the provider sends it, not later.
func TestStreamsWithoutBuffering(t *testing.T) {
	step := make(chan struct{})
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-step:
			case <-r.Context().Done():
				return
			}
		}
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	resp, err := http.Post(ts.URL+"/llm/work/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	for i := range 5 {
		line, err := r.ReadString('\n')
		if want := fmt.Sprintf("data: {\"n\":%d}\n", i); err != nil || line != want {
			t.Fatalf("line = %q, %v, want %q", line, err, want)
		}
		r.ReadString('\n')
		select {
		case step <- struct{}{}:
		case <-time.After(10 * time.Second):
			t.Fatalf("the provider is gone after %d pieces", i)
		}
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
}

func TestHalfAStream(t *testing.T) {
	for _, kind := range []string{"text/event-stream; charset=utf-8", "application/json"} {
		up := backend(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, "data: {\"n\":1}\n\ndata: {\"n\":")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
		resp, err := http.Post(ts.URL+"/llm/work/chat/completions", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if kind == "application/json" {
			if err == nil {
				t.Errorf("half a JSON answer was passed as whole: %q", text)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(string(text), "data: {\"n\":1}\n\nevent: error\ndata: {") ||
			!strings.Contains(string(text), "provider_broke_off") || !strings.HasSuffix(string(text), "}\n\n") {
			t.Errorf("half a stream = %q, %v", text, err)
		}
	}
}

func TestPauses(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/embeddings" {
			<-hang
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		// A trickle outlasts the idle time many times over.
		for range 40 {
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(30 * time.Millisecond)
		}
		<-hang
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, func(c *Config) { c.Idle, c.FirstByte = 600*time.Millisecond, 600*time.Millisecond })
	_, _, text := do(t, "POST", ts.URL+"/llm/work/chat/completions", nil, "{}")
	if strings.Count(text, "data: 1\n\n") != 40 || !strings.Contains(text, "provider_paused") {
		t.Errorf("a stream that stops = %q", text)
	}
	status, _, text := do(t, "POST", ts.URL+"/llm/work/embeddings", nil, "{}")
	if status != 504 || !strings.Contains(text, "provider_timeout") {
		t.Errorf("silence = %d %s, want 504", status, text)
	}
}

func TestPageLeaves(t *testing.T) {
	started, cancelled := make(chan struct{}), make(chan struct{})
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		close(started)
		<-r.Context().Done()
		close(cancelled)
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", ts.URL+"/llm/work/chat/completions", strings.NewReader("{}"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-started
	cancel()
	resp.Body.Close()
	select {
	case <-cancelled:
	case <-time.After(5 * time.Second):
		t.Error("the provider still works for a page that has left")
	}
}

func TestWholeEvents(t *testing.T) {
	for in, want := range map[string]int{"": 0, "data: 1": 0, "data: 1\n": 0, "data: 1\n\n": 9, "a\n\nb": 3, "a\r\n\r\nb\r\n": 5, "a\r\rb": 3, "a\n\nb\n\n": 6} {
		if got := wholeEvents([]byte(in)); got != want {
			t.Errorf("wholeEvents(%q) = %d, want %d", in, got, want)
		}
	}
	// A stream without a last empty line, and one event that is very long.
	long := bytes.Repeat([]byte("x"), 3*maxEvent)
	up := backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: ")
		w.Write(long)
		io.WriteString(w, "\n\ndata: end")
	})
	ts := front(t, Provider{Kind: OpenAI, BaseURL: up.URL}, nil)
	if _, _, body := do(t, "POST", ts.URL+"/llm/work/responses", nil, "{}"); body != "data: "+string(long)+"\n\ndata: end" {
		t.Errorf("%d bytes came through, want %d", len(body), len(long)+17)
	}
}
