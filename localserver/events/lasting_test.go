package events

import (
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

func TestHeartbeat(t *testing.T) {
	h := New(Config{Heartbeat: 300 * time.Millisecond, WriteTimeout: time.Second})
	c := connect(t, serve(t, h), "")
	c.want(t, "hello")
	// The stream outlives the write timeout while nothing is written.
	for range 5 {
		if e := c.want(t, ""); e.comment == "" || e.id != "" || e.data != "" {
			t.Errorf("heartbeat = %+v, want a comment only", e)
		}
	}
	h.Publish("n", 1)
	for {
		if e, err := c.next(); err != nil {
			t.Fatal(err)
		} else if e.kind == "n" {
			break
		}
	}
}

// Case H084 in full takes two minutes.
func TestLongIdle(t *testing.T) {
	if os.Getenv("ZEROCLAW_LONG") != "1" {
		t.Skip("two minutes long; set ZEROCLAW_LONG=1 (TestHeartbeat is the short version)")
	}
	h := New(Config{})
	c := connect(t, serve(t, h), "")
	c.want(t, "hello")
	start := time.Now()
	for i := 0; time.Since(start) < 2*time.Minute; i++ {
		at := time.Now()
		c.want(t, "")
		if d := time.Since(at); d > 16*time.Second {
			t.Errorf("heartbeat %d came after %v", i, d)
		}
	}
}

func TestCloseEndsAll(t *testing.T) {
	h := New(Config{})
	url := serve(t, h)
	var tabs []*client
	for range 20 {
		c := connect(t, url, "")
		c.want(t, "hello")
		tabs = append(tabs, c)
	}
	var wg sync.WaitGroup
	for range 20 { // connections that race with the end
		wg.Go(func() {
			if resp, err := http.Get(url); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	start := time.Now()
	h.Close()
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("Close took %v", d)
	}
	wg.Wait()
	for _, c := range tabs {
		if e, err := c.next(); err == nil {
			t.Errorf("a tab got %+v after the end", e)
		}
	}
	if resp, err := http.Get(url); err != nil || resp.StatusCode != 503 {
		t.Errorf("GET after the end = %v, %v, want 503", resp, err)
	} else {
		resp.Body.Close()
	}
	h.Publish("n", 1)
	h.Close()
}
