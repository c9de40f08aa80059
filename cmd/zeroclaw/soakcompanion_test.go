//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zeroclaw/localserver"
	"zeroclaw/services/builtin"
)

// asSoaked as the first argument makes the test binary be the program, but one
// that writes its goroutines to standard output for each line that it reads, and
// at its end those that are left.
const asSoaked = "soaked"

// asHTTPServer as the first argument makes the test binary be an MCP server over
// HTTP, which prints its address and ends with its standard input.
const asHTTPServer = "http-mcp"

func init() {
	standIns[asSoaked] = soaked
	standIns[asHTTPServer] = serveHTTPMCP
}

// goroutines is a line of what a soaked companion tells.
type goroutines struct {
	Stacks string `json:"stacks"`         // of all, as the runtime prints them
	Left   string `json:"left,omitempty"` // what goleak finds at the end
	Ended  bool   `json:"ended"`
}

func soaked() {
	out := json.NewEncoder(os.Stdout)
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			var b bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&b, 2)
			_ = out.Encode(goroutines{Stacks: b.String()})
		}
	}()
	os.Args = slices.Delete(os.Args, 1, 2)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := execute(ctx, system())
	stop()
	<-asked
	g := goroutines{Ended: true}
	if err := goleak.Find(goleak.IgnoreTopFunction("zeroclaw/tools/process.reapForever")); err != nil {
		g.Left = err.Error()
	}
	_ = out.Encode(g)
	os.Exit(code)
}

// serveHTTPMCP answers each request as the dummy server does.
func serveHTTPMCP() {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s/mcp\n", ln.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = http.Serve(ln, http.HandlerFunc(answerMCP))
}

// answerMCP answers one request as the dummy server does. What that tells on the
// way would need a stream; it is left out.
func answerMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	in, feed := io.Pipe() // whose end would cancel the call
	defer in.Close()
	said, out := io.Pipe()
	go func() {
		_, _ = feed.Write(append(body, '\n'))
		<-r.Context().Done() // also when it is answered
		feed.Close()
	}()
	go func() { out.CloseWithError(builtin.ServeDummy(r.Context(), in, out)) }()
	defer said.Close()
	for lines := bufio.NewReader(said); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct{ Method string }
		if json.Unmarshal(line, &m) == nil && m.Method == "" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(line)
			return
		}
	}
}

// startHTTPMCP starts that server and returns its address.
func startHTTPMCP(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], asHTTPServer)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server over HTTP does not say where it is: %v", err)
	}
	return strings.TrimSpace(address)
}

// soakedCompanion is a companion that tells of its goroutines.
type soakedCompanion struct {
	companion
	in   io.WriteCloser
	told *json.Decoder
}

func startSoaked(t *testing.T, home string) *soakedCompanion {
	t.Helper()
	c := &soakedCompanion{companion: companion{t: t, home: home, err: &bytes.Buffer{}}}
	c.cmd = exec.Command(os.Args[0], asSoaked, "--no-browser", "--port", "0", "--root", filepath.Join(home, "work"))
	c.cmd.Env = append(os.Environ(), "HOME="+home)
	c.cmd.Stderr = c.err
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.told = json.NewDecoder(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		i, err := localserver.Find(t.Context(), filepath.Join(home, ".zeroclaw"))
		if err == nil && i.PID == c.cmd.Process.Pid {
			c.Instance = i
			return c
		}
		if time.Now().After(end) {
			t.Fatalf("the companion did not start: %v\n%s", err, c.err)
		}
	}
}

var madeBy = regexp.MustCompile(`(?m)^created by (\S+)`)

// goroutines counts those of the companion by what they were created by.
func (c *soakedCompanion) goroutines() (count map[string]int, stacks string) {
	c.t.Helper()
	var g goroutines
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		c.t.Fatalf("%v\n%s", err, c.err)
	}
	if err := c.told.Decode(&g); err != nil {
		c.t.Fatalf("the companion does not tell of its goroutines: %v\n%s", err, c.err)
	}
	count = map[string]int{}
	for _, m := range madeBy.FindAllStringSubmatch(g.Stacks, -1) {
		count[m[1]]++
	}
	return count, g.Stacks
}

// rest waits until the companion has no more goroutines than before, and returns
// what it has; nil waits until nothing changes any more.
func (c *soakedCompanion) rest(before map[string]int) (count map[string]int, stacks string) {
	c.t.Helper()
	last := map[string]int{}
	for end, same := time.Now().Add(30*time.Second), 0; ; time.Sleep(250 * time.Millisecond) {
		count, stacks = c.goroutines()
		if same++; !maps.Equal(count, last) {
			same = 0
		}
		last = count
		if before == nil && same > 8 || before != nil && len(more(before, count)) == 0 || time.Now().After(end) {
			return count, stacks
		}
	}
}

// more says of what there is more now.
func more(before, now map[string]int) (out []string) {
	for by, n := range now {
		if n > before[by] {
			out = append(out, fmt.Sprintf("%d instead of %d by %s", n, before[by], by))
		}
	}
	slices.Sort(out)
	return out
}

// resident is the memory of the companion in kB.
func (c *soakedCompanion) resident() int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(data), "VmRSS:")
	n, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.SplitN(after, "\n", 2)[0], "kB")))
	return n
}

// descendants lists the processes below one.
func descendants(pid int) []int {
	var out []int
	for _, child := range children(pid) {
		out = append(append(out, child), descendants(child)...)
	}
	return out
}

// end stops the companion as Ctrl-C does and says which goroutines were left.
func (c *soakedCompanion) end() (left string) {
	c.t.Helper()
	c.in.Close()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
	var g goroutines
	if err := c.told.Decode(&g); err != nil || !g.Ended {
		c.t.Errorf("the companion does not tell what is left: %v", err)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the companion ended with %v\n%s", err, c.err)
	}
	return g.Left
}
