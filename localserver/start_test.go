package localserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/localserver/guard"
	"zeroclaw/tools/atomicfile"
)

// TestEveryRouteHasItsClasses walks the route table: what is not public asks
// for the token, and says so before it looks at anything else.
func TestEveryRouteHasItsClasses(t *testing.T) {
	r := newRig(t)
	public := map[string]bool{"GET /{$}": true, "GET /{file...}": true, "POST /api/pair": true, "POST /api/prove": true}
	routes := r.server.routes()
	if err := guard.Check(routes); err != nil {
		t.Fatal(err)
	}
	for _, route := range routes {
		name := route.Method + " " + route.Pattern
		if public[name] != (route.Auth == guard.None) {
			t.Errorf("%s has auth class %d", name, route.Auth)
		}
		if public[name] {
			continue
		}
		method, path := route.Method, strings.NewReplacer("{id}", "x", "{call}", "x", "{pid}", "1", "{name}", "x", "{action}", "start", "{profile}", "x", "{path...}", "models").Replace(route.Pattern)
		if method == guard.AnyMethod {
			method = "POST"
		}
		var body any
		if method == "POST" || method == "PUT" || method == "PATCH" {
			body = `{"not":"looked at"`
		}
		for _, auth := range []string{"", "Bearer", "Bearer " + strings.Repeat("x", 43), "Basic " + r.token, r.token} {
			if status, text := r.request(method, path, body, "Authorization: "+auth); status != http.StatusUnauthorized {
				t.Errorf("%s with %q answers %d %.100s, want 401", name, auth, status, text)
			}
		}
	}
	if len(routes) < 50 {
		t.Errorf("only %d routes", len(routes))
	}
}

func TestLaunchCodeWorksOnce(t *testing.T) {
	r := newRig(t)
	_, code, _ := strings.Cut(r.server.LaunchURL(Launch{Printed: true}), "#code=")
	type paired struct {
		Token   string `json:"token"`
		TokenID string `json:"token_id"`
	}
	p := do[paired](r, "POST", "/api/pair", map[string]string{"code": code}, "Authorization: ")
	if status, _ := r.request("GET", "/api/status", nil, "Authorization: Bearer "+p.Token); status != http.StatusOK {
		t.Errorf("the new token answers %d", status)
	}
	if status, _ := r.request("POST", "/api/pair", map[string]string{"code": code}, "Authorization: "); status != http.StatusForbidden {
		t.Errorf("the code again answers %d, want 403", status)
	}
	if status, _ := r.request("GET", "/api/status", nil, "Authorization: Bearer "+p.Token); status != http.StatusUnauthorized {
		t.Errorf("after its code was used twice the token answers %d, want 401", status)
	}
	if len(r.server.Problems()) != 1 {
		t.Errorf("problems are %+v, want the warning", r.server.Problems())
	}
	if status, _ := r.request("POST", "/api/pair", map[string]string{"code": "nonesuch"}, "Authorization: "); status != http.StatusForbidden {
		t.Errorf("an invented code answers %d, want 403", status)
	}
}

// TestPortTaken is case H091: another program on the wanted port is never
// spoken to, and the companion says where it is instead.
func TestPortTaken(t *testing.T) {
	other, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	touched := make(chan struct{}, 1)
	go func() {
		if c, err := other.Accept(); err == nil {
			c.Close()
			touched <- struct{}{}
		}
	}()
	port := other.Addr().(*net.TCPAddr).Port
	r := newRig(t, func(c *Config) { c.Port = port })
	if r.server.port == port || len(r.server.Problems()) != 1 || r.server.Problems()[0].Code != "port_taken" {
		t.Errorf("on port %d with %+v", r.server.port, r.server.Problems())
	}
	if strings.Contains(r.server.LaunchURL(Launch{}), ":"+strings.TrimPrefix(other.Addr().String(), "127.0.0.1:")+"/") {
		t.Error("the page's address leads to the other program")
	}
	select {
	case <-touched:
		t.Error("the companion connected to the other program")
	default:
	}
}

// TestNoTokenInWhatIsWritten is case H093.
func TestNoTokenInWhatIsWritten(t *testing.T) {
	r := newRig(t)
	s := r.session()
	r.request("GET", "/api/status?x="+r.token, nil)
	r.request("GET", "/nonesuch/"+r.token, nil)
	r.call(s.ID, "execute_command", map[string]any{"command": "echo " + r.token + " | cat"})
	r.outcome(s.ID, r.call(s.ID, "read_file", map[string]any{"path": r.token + "\x00"}))
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.log.String(), r.token) {
		t.Error("the log holds the token")
	}
	err := filepath.Walk(filepath.Join(r.home, ".zeroclaw"), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), r.token) {
			t.Errorf("%s holds the token", path)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneCompanionAFolder(t *testing.T) {
	state := t.TempDir()
	release, err := Acquire(state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(state); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("a second Acquire = %v, want ErrLocked", err)
	}
	release()
	if release, err = Acquire(state); err != nil {
		t.Fatalf("after the release: %v", err)
	}
	release()
}

// TestFindNeedsProof shows that a program that took over the port is told no
// token.
func TestFindNeedsProof(t *testing.T) {
	r := newRig(t)
	state := filepath.Join(r.home, ".zeroclaw")
	if i, err := Find(t.Context(), state); err != nil || i.Token != r.token {
		t.Errorf("Find = %+v, %v", i, err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 10)
	squatter := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		seen <- q.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"proof":"00"}`))
	})}
	go func() { _ = squatter.Serve(ln) }()
	defer squatter.Close()
	fake := r.server.instance
	fake.Port = ln.Addr().(*net.TCPAddr).Port
	if err := fake.save(state); err != nil {
		t.Fatal(err)
	}
	for range 10 { // a busy machine may not have let it answer in time
		if _, err := Find(t.Context(), state); !errors.Is(err, ErrNotRunning) {
			t.Errorf("Find = %v, want ErrNotRunning", err)
		}
		select {
		case auth := <-seen:
			if auth != "" {
				t.Errorf("the other program was sent %q", auth)
			}
			return
		case <-time.After(time.Second):
		}
	}
	t.Error("the other program was never asked, so nothing is shown")
}

func TestEndsWhenIdle(t *testing.T) {
	r := newRig(t, func(c *Config) { c.ExitWhenIdle = 2 * time.Second })
	select {
	case <-r.server.ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("an idle companion did not end")
	}
}

func TestIdleLimit(t *testing.T) {
	const fromFile = "[server]\nexit_when_idle = \"7m\"\n"
	for _, c := range []struct {
		flag     time.Duration
		file     string
		terminal bool
		want     time.Duration
	}{
		{0, "", true, 0}, {0, "", false, DefaultIdle},
		{0, fromFile, true, 7 * time.Minute}, {0, fromFile, false, 7 * time.Minute},
		{time.Hour, fromFile, true, time.Hour}, {time.Hour, "", false, time.Hour},
	} {
		r := newRig(t, withConfig(t, c.file), func(n *Config) { n.ExitWhenIdle, n.Terminal = c.flag, c.terminal })
		if got := r.server.idleLimit(); got != c.want {
			t.Errorf("flag %v, file %q, terminal %v: ends after %v, want %v", c.flag, c.file, c.terminal, got, c.want)
		}
	}
}

func TestQuitEndsInOrder(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "execute_command", map[string]any{"command": "sleep 300 | cat"})
	r.answer(r.question(id), map[string]any{"decision": "once"})
	do[map[string]any](r, "POST", "/api/services/dummy_mcp/start", map[string]any{})
	start := time.Now()
	if status, _ := r.request("POST", "/api/quit", map[string]any{}); status != http.StatusAccepted {
		t.Errorf("quit answers %d", status)
	}
	if err := r.end(); err != nil || time.Since(start) > 2*shutdownTime {
		t.Errorf("ended with %v after %v", err, time.Since(start))
	}
	if _, err := Find(context.Background(), filepath.Join(r.home, ".zeroclaw")); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Find = %v, want ErrNotRunning", err)
	}
}

// TestBrokenConfiguration starts with a file that cannot be read: everything
// asks, the place is named, and nothing saves over it.
func TestBrokenConfiguration(t *testing.T) {
	const broken = "[permissions]\npolicy = \"allow_all\"\ndirectories = [\"R:./**\"\n[server\n"
	r := newRig(t, func(c *Config) {
		if err := os.MkdirAll(c.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.State, "config.toml"), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	s := r.session()
	id := r.call(s.ID, "read_file", map[string]any{"path": "README.md"})
	r.answer(r.question(id), map[string]any{"decision": "deny"})
	problems := r.server.Problems()
	if len(problems) == 0 || !strings.Contains(problems[0].Message, "config.toml:") {
		t.Errorf("problems are %+v, want file:line:column", problems)
	}
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Directories = []string{"R:./**"}
	if status, body := r.request("PUT", "/api/permissions", p); status != http.StatusConflict || !strings.Contains(body, "config_unreadable") {
		t.Errorf("saving answers %d %s", status, body)
	}
	path := filepath.Join(r.home, ".zeroclaw", "config.toml")
	if data, _ := os.ReadFile(path); string(data) != broken {
		t.Errorf("the file was changed to %q", data)
	}
	r.edited("[permissions]\ndirectories = [\"R:./**\"]\n")
	eventually(r, func() (int, bool) { n := len(r.server.Problems()); return n, n == 0 })
	if o := r.outcome(s.ID, r.call(s.ID, "read_file", map[string]any{"path": "README.md"})); o.By != "rule" {
		t.Errorf("after the repair it ended %+v", o)
	}
}
