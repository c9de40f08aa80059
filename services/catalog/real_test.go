package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
	"zeroclaw/services/mcpclient"
)

// companion is what a companion is for services: the bundled definitions in a
// new state folder, an Installer and a Supervisor that runs until the test
// ends.
type companion struct {
	*services.Supervisor
	state, root string
}

func newCompanion(t *testing.T, state, root string, environ []string, path string) *companion {
	t.Helper()
	folder := &services.Folder{Path: filepath.Join(state, "services")}
	if err := writeBundled(folder.Path); err != nil {
		t.Fatal(err)
	}
	pathOf := func(context.Context) string { return path }
	own := func() []string { return environ }
	in := NewInstaller(Config{State: state, Path: pathOf, Environ: own})
	v, err := services.New(services.Config{
		Connector: mcpclient.New(mcpclient.Config{
			Identity: mcpclient.Identity{Name: "test", Version: "1"}, Environ: own, Path: pathOf, Home: state,
		}),
		Installer: in,
		Vars: func() services.Vars {
			return services.Vars{Root: root, Self: "/nowhere", Node: in.Node, Python: in.Python}
		},
		Scan:  folder.Scan,
		Roots: func() []services.Root { return []services.Root{{URI: "file://" + root}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- v.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for range 500 {
		if len(v.List()) == len(Bundled()) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return &companion{v, state, root}
}

// reach waits until a service is in a state.
func (c *companion) reach(t *testing.T, name string, limit time.Duration, want services.State) services.Status {
	t.Helper()
	var st services.Status
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		st, _ = c.Status(name)
		if st.State == want {
			return st
		}
		if st.State == services.Failed {
			break
		}
	}
	lines, _ := c.Logs(name, 0)
	var log strings.Builder
	for _, l := range lines {
		log.WriteString(l.Text + "\n")
	}
	t.Fatalf("%s is %s (%s), want %s; its log:\n%s", name, st.State, st.Reason, want, log.String())
	return st
}

func (c *companion) ready(t *testing.T, name string) {
	t.Helper()
	if st, err := c.Status(name); err != nil || st.State != services.NotInstalled {
		t.Fatalf("at first it is %s, %v", st.State, err)
	}
	if err := c.Start(name); err == nil {
		t.Error("started before it was installed")
	}
	began := time.Now()
	if err := c.Install(name); err != nil {
		t.Fatal(err)
	}
	switch st := c.settled(t, name); {
	case strings.Contains(st.Reason, "did not reach its registry"):
		t.Skipf("the npm registry cannot be reached: %s", st.Reason)
	case st.State != services.Stopped:
		t.Fatalf("after installing it is %s: %s", st.State, st.Reason)
	}
	t.Logf("%s was installed in %s", name, time.Since(began).Round(time.Millisecond))
	c.begin(t, name)
}

func (c *companion) begin(t *testing.T, name string) {
	t.Helper()
	began := time.Now()
	if err := c.Start(name); err != nil {
		t.Fatal(err)
	}
	c.reach(t, name, time.Minute, services.Running)
	t.Logf("%s was ready in %s", name, time.Since(began).Round(time.Millisecond))
}

func (c *companion) call(t *testing.T, server, tool string, args any) string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := c.Call(ctx, services.ToolCall{Server: server, Tool: tool, Args: raw})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if strings.Contains(string(r.Raw), `"isError":true`) {
		t.Fatalf("%s: %.2000s", tool, r.Raw)
	}
	return string(r.Raw)
}

// ended stops a service and sees that nothing of it is left.
func (c *companion) ended(t *testing.T, name string) {
	t.Helper()
	if err := c.Stop(t.Context(), name); err != nil {
		t.Error(err)
	}
	if left := running(t, c.state); len(left) != 0 {
		t.Errorf("still running: %v", left)
	}
}

// offline is an environment in which npm reaches no registry.
func offline(environ []string) []string {
	return append(slices.Clone(environ), "npm_config_registry=http://127.0.0.1:9/", "npm_config_https_proxy=http://127.0.0.1:9/")
}

// npmEnviron is our own environment with a cache of npm that the test alone
// has, so that it is empty at first.
func npmEnviron(t *testing.T) []string {
	t.Helper()
	return append(os.Environ(), "npm_config_cache="+t.TempDir())
}

// long skips a test that takes minutes.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("ZEROCLAW_LONG") == "" {
		t.Skip("set ZEROCLAW_LONG=1: this fetches packages and starts them for minutes")
	}
}

func TestMemoryForReal(t *testing.T) {
	path := realPath(t, "node", "npm")
	state := t.TempDir()
	c := newCompanion(t, state, t.TempDir(), os.Environ(), path)
	c.ready(t, "memory")
	c.call(t, "memory", "create_entities", map[string]any{"entities": []any{map[string]any{"name": "Ada", "entityType": "person", "observations": []string{"wrote the first program"}}}})
	if got := c.call(t, "memory", "read_graph", struct{}{}); !strings.Contains(got, "wrote the first program") {
		t.Errorf("read_graph = %s", got)
	}
	if data, err := os.ReadFile(filepath.Join(state, "services", "memory", "memory.jsonl")); err != nil || !strings.Contains(string(data), "Ada") {
		t.Errorf("memory.jsonl = %s, %v", data, err)
	}
	c.ended(t, "memory")

	// It starts again without a network, with what it remembered.
	second := newCompanion(t, state, t.TempDir(), offline(os.Environ()), path)
	second.begin(t, "memory")
	if got := second.call(t, "memory", "read_graph", struct{}{}); !strings.Contains(got, "Ada") {
		t.Errorf("read_graph = %s", got)
	}
	second.ended(t, "memory")
}

// What was fetched once can be installed again without a network; what was not
// is a sentence, and nothing is left of the attempt.
func TestInstallOffline(t *testing.T) {
	long(t)
	path := realPath(t, "node", "npm")
	environ := npmEnviron(t)
	newCompanion(t, t.TempDir(), t.TempDir(), environ, path).ready(t, "memory")
	newCompanion(t, t.TempDir(), t.TempDir(), offline(environ), path).ready(t, "memory")

	c := newCompanion(t, t.TempDir(), t.TempDir(), offline(npmEnviron(t)), path)
	if err := c.Install("memory"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	st := c.settled(t, "memory")
	if st.State != services.Failed || !strings.Contains(st.Reason, "npm did not reach its registry") || time.Since(began) > time.Minute {
		t.Errorf("without a network: %s, %s, after %s", st.State, st.Reason, time.Since(began))
	}
	if _, err := os.Stat(filepath.Join(c.state, "services", "memory", modulesName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was half installed: %v", err)
	}
}

// npm is killed with packages half written; the next installation repairs it.
func TestRealNPMIsKilled(t *testing.T) {
	long(t)
	path := realPath(t, "node", "npm")
	c := newCompanion(t, t.TempDir(), t.TempDir(), os.Environ(), path)
	dir := filepath.Join(c.state, "services", "lsp")
	if err := c.Install("lsp"); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, stagingName, modulesName, "typescript")
	killed := 0
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(half); err != nil {
			if st, _ := c.Status("lsp"); st.State != services.Installing {
				break
			}
			continue
		}
		cwds, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range cwds {
			if cwd, _ := os.Readlink(link); cwd == filepath.Join(dir, stagingName) {
				if p, err := os.FindProcess(number(filepath.Base(filepath.Dir(link)))); err == nil && p.Kill() == nil {
					killed++
				}
			}
		}
		break
	}
	st := c.settled(t, "lsp")
	if strings.Contains(st.Reason, "did not reach its registry") || killed == 0 {
		t.Skipf("npm was not met at work: %s %s", st.State, st.Reason)
	}
	if st.State != services.Failed || !strings.Contains(st.Reason, "SIGKILL") {
		t.Errorf("after npm was killed: %s, %s", st.State, st.Reason)
	}
	for _, name := range []string{modulesName, stagingName, markerName} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Start("lsp"); err == nil {
		t.Error("half an installation was started")
	}
	if err := c.Install("lsp"); err != nil {
		t.Fatal(err)
	}
	if st := c.settled(t, "lsp"); st.State != services.Stopped {
		t.Fatalf("the next installation: %s, %s", st.State, st.Reason)
	}
	c.begin(t, "lsp")
	c.ended(t, "lsp")
}

// settled waits for the end of an installation.
func (c *companion) settled(t *testing.T, name string) services.Status {
	t.Helper()
	for range 30000 {
		if st, _ := c.Status(name); st.State != services.Installing {
			return st
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the installation does not end")
	return services.Status{}
}
