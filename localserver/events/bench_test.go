package events

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// bare is the leanest broadcaster: no numbers, no replay, no deadlines.
type bare struct {
	mu   sync.Mutex
	subs map[chan []byte]bool
}

func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	f := w.(http.Flusher)
	f.Flush()
	ch := make(chan []byte, 4096)
	b.mu.Lock()
	b.subs[ch] = true
	b.mu.Unlock()
	for {
		select {
		case e := <-ch:
			fmt.Fprintf(w, "data: %s\n\n", e)
			if len(ch) == 0 {
				f.Flush()
			}
		case <-r.Context().Done():
			b.mu.Lock()
			delete(b.subs, ch)
			b.mu.Unlock()
			return
		}
	}
}

func (b *bare) publish(e []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.subs {
		ch <- e
	}
}

// watch connects tabs that report each event by its length on the channel.
func watch(b *testing.B, h http.Handler, tabs int) (got chan struct{}, stop func()) {
	ts := httptest.NewServer(h)
	got = make(chan struct{}, 1<<16)
	tr := &http.Transport{}
	var wg sync.WaitGroup
	ready := make(chan struct{}, tabs)
	for range tabs {
		resp, err := (&http.Client{Transport: tr}).Get(ts.URL)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer resp.Body.Close()
			ready <- struct{}{}
			r := bufio.NewReader(resp.Body)
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if strings.HasPrefix(line, "data: \"x") {
					got <- struct{}{}
				}
			}
		})
	}
	for range tabs {
		<-ready
	}
	time.Sleep(200 * time.Millisecond)
	return got, func() {
		ts.CloseClientConnections()
		wg.Wait()
		ts.Close()
	}
}

// BenchmarkP7 reports how long one event takes to the last of eight tabs
// (p50) and what a burst costs, as ratios to the bare broadcaster in the same
// run, taken in turns.
func BenchmarkP7(b *testing.B) {
	const tabs, rounds, single, burst = 8, 5, 300, 1000
	text := strings.Repeat("x", 512)
	hub := New(Config{})
	plain := &bare{subs: map[chan []byte]bool{}}
	hubGot, stopHub := watch(b, hub, tabs)
	defer stopHub()
	defer hub.Close()
	bareGot, stopBare := watch(b, plain, tabs)
	defer stopBare()
	sides := []struct {
		publish func()
		got     chan struct{}
		one     []time.Duration
		many    []time.Duration
	}{
		{publish: func() { hub.Publish("n", text) }, got: hubGot},
		{publish: func() { plain.publish([]byte(`"` + text + `"`)) }, got: bareGot},
	}
	for b.Loop() {
		for range rounds {
			for i := range sides {
				s := &sides[i]
				for range single {
					t := time.Now()
					s.publish()
					for range tabs {
						<-s.got
					}
					s.one = append(s.one, time.Since(t))
				}
				t := time.Now()
				for range burst {
					s.publish()
				}
				for range tabs * burst {
					<-s.got
				}
				s.many = append(s.many, time.Since(t))
			}
		}
	}
	at := func(d []time.Duration, p float64) float64 {
		slices.Sort(d)
		return float64(d[int(float64(len(d)-1)*p)])
	}
	b.ReportMetric(at(sides[0].one, .5)/at(sides[1].one, .5), "p50-ratio")
	b.ReportMetric(at(sides[0].one, .99)/at(sides[1].one, .99), "p99-ratio")
	b.ReportMetric(at(sides[0].many, .5)/at(sides[1].many, .5), "burst-ratio")
}
