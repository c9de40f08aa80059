//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bridge is a companion or the floor with servers behind it, as a process.
type bridge struct {
	b       *testing.B
	cmd     *exec.Cmd
	url     string
	token   string
	session string // of the companion
}

func build(b *testing.B, dir, name, source string) string {
	b.Helper()
	out := filepath.Join(dir, name)
	if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", out, source).CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", source, err, text)
	}
	return out
}

func freePort(b *testing.B) string {
	b.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

func (g *bridge) start(home string, argv ...string) {
	g.b.Helper()
	g.cmd = exec.Command(argv[0], argv[1:]...)
	g.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/false"}
	if err := g.cmd.Start(); err != nil {
		g.b.Fatal(err)
	}
	g.b.Cleanup(g.stop)
}

func (g *bridge) stop() {
	_ = g.cmd.Process.Signal(os.Interrupt)
	_ = g.cmd.Wait()
}

// rss is the memory that the process itself holds, in KiB.
func (g *bridge) rss() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	if err != nil {
		g.b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return n
		}
	}
	return 0
}

func (g *bridge) do(method, path string, body any) []byte {
	g.b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		g.b.Fatal(err)
	}
	q, err := http.NewRequest(method, g.url+path, bytes.NewReader(text))
	if err != nil {
		g.b.Fatal(err)
	}
	if body == nil {
		q.Body, q.ContentLength = nil, 0
	} else {
		q.Header.Set("Content-Type", "application/json")
	}
	q.Header.Set("Authorization", "Bearer "+g.token)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil // not up yet
	}
	defer a.Body.Close()
	out, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode >= 300 {
		g.b.Fatalf("%s %s: %d %.300s %v", method, path, a.StatusCode, out, err)
	}
	return out
}

// measured starts a companion with n servers of the peer and waits until all their
// tools are listed.
func measured(b *testing.B, program, peer string, n, tools int) (*bridge, time.Duration) {
	b.Helper()
	home := b.TempDir()
	var text strings.Builder
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%q", fmt.Sprintf("s%d", i)))
		fmt.Fprintf(&text, "[[mcp.servers]]\nname = \"s%d\"\ncommand = %q\nargs = [\"-tools\", \"%d\"]\n", i, peer, tools-1)
	}
	fmt.Fprintf(&text, "[mcp_bundles.all]\nservers = [%s]\n[agents.a]\nmcp_bundles = [\"all\"]\nrisk_profile = \"p\"\n[risk_profiles.p]\nauto_approve = [\"*\"]\n", strings.Join(names, ","))
	state := filepath.Join(home, ".zeroclaw")
	if err := os.MkdirAll(state, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.toml"), []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	g := &bridge{b: b}
	began := time.Now()
	g.start(home, program, "--no-browser", "--port", "0", "--root", home)
	for {
		var i struct {
			Port  int    `json:"port"`
			Token string `json:"token"`
		}
		if data, err := os.ReadFile(filepath.Join(state, "run", "server.json")); err == nil && json.Unmarshal(data, &i) == nil {
			g.url, g.token = "http://127.0.0.1:"+strconv.Itoa(i.Port), i.Token
			break
		}
		time.Sleep(time.Millisecond)
	}
	var s struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(g.do("POST", "/api/sessions", map[string]string{"agent": "a"}), &s); err != nil {
		b.Fatal(err)
	}
	g.session = s.ID
	for strings.Count(string(g.do("GET", "/api/sessions/"+g.session, nil)), `"origin":"server"`) < n*tools {
		if time.Since(began) > time.Minute {
			b.Fatal("the tools were not listed within a minute")
		}
		time.Sleep(2 * time.Millisecond)
	}
	return g, time.Since(began)
}

// floor starts the reference with n servers and waits for their tools.
func floor(b *testing.B, program, peer string, n, tools int) (*bridge, time.Duration) {
	b.Helper()
	port := freePort(b)
	g := &bridge{b: b, url: "http://127.0.0.1:" + port, token: "t"}
	began := time.Now()
	g.start(b.TempDir(), program, "127.0.0.1:"+port, g.token, strconv.Itoa(n), peer, "-tools", strconv.Itoa(tools-1))
	for g.do("GET", "/tools", nil) == nil {
		time.Sleep(time.Millisecond)
	}
	return g, time.Since(began)
}

// ratio is the median of one over that of the other.
func ratio(ours, theirs []time.Duration) float64 {
	return float64(median(ours)) / float64(median(theirs))
}

// programs builds what is measured.
func programs(b *testing.B) (zeroclaw, bare, peer string) {
	dir := b.TempDir()
	return build(b, dir, "zeroclaw", "."), build(b, dir, "floor", "./testdata/floor"), build(b, dir, "peer", "./testdata/peer")
}

// BenchmarkFirstTools is P3 and P4: from the start of the process until the
// tools of all servers are listed, and the memory it rests at.
func BenchmarkFirstTools(b *testing.B) {
	zeroclaw, bare, peer := programs(b)
	for _, tt := range []struct{ servers, tools int }{{1, 2}, {20, 50}} {
		b.Run(fmt.Sprintf("servers=%d", tt.servers), func(b *testing.B) {
			var ours, theirs []time.Duration
			var memory, floorMemory []int
			for b.Loop() {
				g, took := measured(b, zeroclaw, peer, tt.servers, tt.tools)
				time.Sleep(2 * time.Second) // what the start left running comes to rest
				ours, memory = append(ours, took), append(memory, g.rss())
				g.stop()
				f, took := floor(b, bare, peer, tt.servers, tt.tools)
				time.Sleep(500 * time.Millisecond)
				theirs, floorMemory = append(theirs, took), append(floorMemory, f.rss())
				f.stop()
			}
			b.ReportMetric(ratio(ours, theirs), "first-tools-ratio")
			b.ReportMetric(float64(median(memory))/1024, "idle-MB")
			b.ReportMetric(float64(median(memory))/float64(median(floorMemory)), "idle-ratio")
		})
	}
}

// timed is how long f takes, as the median of several runs.
func timed(n int, f func()) time.Duration {
	var took []time.Duration
	for range n {
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	return median(took)
}

// BenchmarkLists is P5: a list of 1,000 tools, of all and of a session.
func BenchmarkLists(b *testing.B) {
	zeroclaw, bare, peer := programs(b)
	g, _ := measured(b, zeroclaw, peer, 1, 1000)
	f, _ := floor(b, bare, peer, 1, 1000)
	var all, session, theirs []time.Duration
	for b.Loop() {
		all = append(all, timed(20, func() { g.do("GET", "/api/tools", nil) }))
		session = append(session, timed(20, func() { g.do("GET", "/api/sessions/"+g.session, nil) }))
		theirs = append(theirs, timed(20, func() { f.do("GET", "/tools", nil) }))
	}
	b.ReportMetric(ratio(all, theirs), "all-ratio")
	b.ReportMetric(ratio(session, theirs), "session-ratio")
}

// BenchmarkBigAnswers is P6: whole answers of 1 and 10 MB through a session's
// call, and the memory held afterwards.
func BenchmarkBigAnswers(b *testing.B) {
	zeroclaw, bare, peer := programs(b)
	for _, size := range []int{1 << 20, 10 << 20} {
		b.Run(fmt.Sprintf("MB=%d", size>>20), func(b *testing.B) {
			g, _ := measured(b, zeroclaw, peer, 1, 2)
			f, _ := floor(b, bare, peer, 1, 2)
			var ours, theirs []time.Duration
			for b.Loop() {
				ours = append(ours, timed(5, func() {
					out := g.do("POST", "/api/sessions/"+g.session+"/calls", map[string]any{"tool": "s0__big", "arguments": map[string]int{"bytes": size}})
					if len(out) < size {
						b.Fatalf("the answer has %d bytes: %.300s", len(out), out)
					}
				}))
				theirs = append(theirs, timed(5, func() {
					f.do("POST", "/call", map[string]any{"name": "big", "arguments": map[string]int{"bytes": size}})
				}))
			}
			time.Sleep(3 * time.Second)
			b.ReportMetric(ratio(ours, theirs), "answer-ratio")
			b.ReportMetric(float64(g.rss())/1024, "after-MB")
			b.ReportMetric(float64(g.rss())/float64(f.rss()), "after-ratio")
		})
	}
}
