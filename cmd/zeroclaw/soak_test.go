//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What a soak consists of.
const (
	soakServers = 20 // services, of which every fifth is reached over HTTP
	soakCallers = 64
	soakTabs    = 8 // one of them does not read
	soakTokens  = 4
)

// soak is a companion under load.
type soak struct {
	*soakedCompanion
	url  string
	http *http.Client

	calls, events, cutOff, failures atomic.Int64

	mu  sync.Mutex
	ids []string // of tokens of this round
}

// failed notes an error; the first ones are shown.
func (s *soak) failed(format string, args ...any) {
	if s.failures.Add(1) <= 20 {
		s.t.Errorf(format, args...)
	}
}

// TestSoak: 64 callers of /mcp, 20 services and 8 tabs for as long as
// ZEROCLAW_SOAK says, with ZEROCLAW_LONG=1 ten minutes. Nothing fails, the memory
// does not grow, and when all have left no goroutine and no process is there.
func TestSoak(t *testing.T) {
	length := 10 * time.Minute
	if text := os.Getenv("ZEROCLAW_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	} else if os.Getenv("ZEROCLAW_LONG") == "" {
		t.Skip("set ZEROCLAW_SOAK=10m, or ZEROCLAW_LONG=1: this loads the machine for minutes")
	}
	home := t.TempDir()
	soakHome(t, home)
	s := &soak{soakedCompanion: startSoaked(t, home), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * soakCallers}}}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", s.Port)
	t.Logf("idle: %d kB", s.resident())

	// What is there once everything was used is no leak.
	s.round(5*time.Second, nil)
	before, _ := s.rest(nil)
	seen := map[int]bool{}
	var memory []int
	began := time.Now()
	s.round(length, func() {
		memory = append(memory, s.resident())
		for _, pid := range descendants(s.cmd.Process.Pid) {
			seen[pid] = true
		}
	})
	took := time.Since(began)
	after, stacks := s.rest(before)
	for _, one := range more(before, after) {
		t.Errorf("goroutines: %s", one)
	}
	if t.Failed() {
		t.Logf("%s", stacks)
	}
	if left := descendants(s.cmd.Process.Pid); len(left) > 0 {
		t.Errorf("processes %v are there with every service disconnected", left)
	}
	t.Logf("at rest again: %d kB, %d goroutines", s.resident(), total(after))
	if left := s.end(); left != "" {
		t.Errorf("goroutines at the end: %s", left)
	}
	for pid := range seen {
		if alive(pid) {
			t.Errorf("process %d has outlived the companion", pid)
		}
	}
	if text := s.err.String(); strings.Contains(text, "level=ERROR") || strings.Contains(text, "panic") {
		t.Errorf("the companion says %.3000s", text)
	}
	start, end := median(memory[len(memory)/5:len(memory)*3/10+1]), median(memory[len(memory)*9/10:])
	t.Logf("%d calls of %d callers in %s, %d events, %d times cut off, %d errors, %d processes", s.calls.Load(), soakCallers, took.Round(time.Second), s.events.Load(), s.cutOff.Load(), s.failures.Load(), len(seen))
	t.Logf("resident: start %d kB, end %d kB, most %d kB", start, end, slices.Max(memory))
	if limit := start*5/4 + 4<<10; end > limit {
		t.Errorf("the memory grew from %d kB to %d kB, at most %d kB was to be", start, end, limit)
	}
}

func total(count map[string]int) (n int) {
	for _, one := range count {
		n += one
	}
	return n
}

// soakHome lays out a home with the services.
func soakHome(t *testing.T, home string) {
	t.Helper()
	address := startHTTPMCP(t)
	var config strings.Builder
	var names, free []string
	for i := range soakServers {
		name := fmt.Sprintf("s%02d", i+1)
		names = append(names, name)
		for _, tool := range []string{"echo", "slow", "fail", "big", "image"} {
			free = append(free, name+"__"+tool)
		}
		if i%5 == 3 {
			fmt.Fprintf(&config, "[[mcp.servers]]\nname = %q\ntransport = \"http\"\nurl = %q\n", name, address)
		} else {
			fmt.Fprintf(&config, "[[mcp.servers]]\nname = %q\ncommand = %q\nargs = [\"dummy-mcp\"]\n", name, os.Args[0])
		}
	}
	fmt.Fprintf(&config, "[mcp_bundles.all]\nservers = [%s]\n[agents.w]\nmcp_bundles = [\"all\"]\nrisk_profile = \"p\"\n[risk_profiles.p]\nauto_approve = [%s]\n", inQuotes(names), inQuotes(free))
	for _, dir := range []string{".zeroclaw", "work"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".zeroclaw", "config.toml"), []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func inQuotes(texts []string) string { return `"` + strings.Join(texts, `", "`) + `"` }

// round connects everything, lets it run, and ends it all. watch is called twice
// a second meanwhile.
func (s *soak) round(length time.Duration, watch func()) {
	s.t.Helper()
	s.servers("connect", "running")
	ctx, cancel := context.WithCancel(context.Background())
	tabs := s.openTabs(ctx, soakTabs)
	var tokens []string
	for i := range soakTokens {
		tokens = append(tokens, s.token(fmt.Sprint("token ", i)))
	}
	end := time.Now().Add(length)
	var work sync.WaitGroup
	for i := range soakCallers {
		c := s.caller(i, tokens[i%soakTokens])
		work.Go(func() { c.run(end) })
	}
	work.Go(func() { s.changes(end) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work.Wait()
	}()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for going := true; going; {
		select {
		case <-tick.C:
			if watch != nil {
				watch()
			}
		case <-ended:
			going = false
		}
	}
	cancel()
	tabs.Wait()
	for _, id := range s.ids {
		s.do("DELETE", "/api/tokens/"+id, nil, nil)
	}
	s.ids = nil
	s.servers("disconnect", "stopped")
	s.http.CloseIdleConnections()
	var status struct {
		Counts struct{ Sessions, Calls, Questions, Tabs, Services int }
	}
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		s.do("GET", "/api/status", nil, &status)
		if c := status.Counts; c.Sessions+c.Calls+c.Questions+c.Tabs+c.Services == 0 {
			return
		}
		if time.Now().After(late) {
			s.t.Errorf("when all have left there are %+v", status.Counts)
			return
		}
	}
}

// changes restarts the last server, and makes and revokes a token, all the time.
func (s *soak) changes(end time.Time) {
	last := fmt.Sprintf("s%02d", soakServers)
	for n := 0; time.Now().Before(end); n++ {
		if err := s.Do(context.Background(), "POST", "/api/servers/"+last+"/restart", struct{}{}, nil); err != nil {
			s.failed("restart: %v", err)
		}
		if err := s.brief(fmt.Sprint("brief ", n)); err != nil {
			s.failed("a token: %v", err)
		}
		time.Sleep(min(3*time.Second, max(0, time.Until(end))))
	}
}

// brief uses a token that is revoked at once.
func (s *soak) brief(name string) error {
	token := s.token(name)
	s.mu.Lock()
	id := s.ids[len(s.ids)-1]
	s.ids = s.ids[:len(s.ids)-1]
	s.mu.Unlock()
	w := &httpWay{http: s.http, url: s.url + "/mcp", token: token}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.open(ctx); err != nil {
		return err
	}
	if err := s.Do(ctx, "DELETE", "/api/tokens/"+id, nil, nil); err != nil {
		return err
	}
	if a, err := w.ask(ctx, "tools/list", map[string]any{}); err == nil || !strings.Contains(err.Error(), "401") {
		return fmt.Errorf("after it was revoked: %.200s, %w", a.Result, err)
	}
	return nil
}

// token makes a token for the rest of the round.
func (s *soak) token(name string) string {
	var out struct{ ID, Token string }
	if err := s.Do(context.Background(), "POST", "/api/tokens", map[string]string{"name": name, "agent": "w"}, &out); err != nil {
		s.failed("%s: %v", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, out.ID)
	return out.Token
}

// servers does the same to every server and waits until all are in that state.
func (s *soak) servers(action, state string) {
	s.t.Helper()
	for i := range soakServers {
		s.do("POST", fmt.Sprintf("/api/servers/s%02d/%s", i+1, action), struct{}{}, nil)
	}
	var list struct {
		Servers []struct{ Name, State, Reason string }
	}
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		s.do("GET", "/api/servers", nil, &list)
		n := 0
		for _, one := range list.Servers {
			if one.State == state {
				n++
			}
		}
		if n == soakServers {
			return
		}
		if time.Now().After(late) {
			s.t.Fatalf("after %s: %+v", action, list.Servers)
		}
	}
}
