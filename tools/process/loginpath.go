package process

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// loginLimit bounds how long a login shell may take to start.
const loginLimit = 10 * time.Second

// Login is the user's login shell, which is asked for its PATH.
type Login struct {
	ctx     context.Context
	shell   string
	environ func() []string

	once sync.Once
	done chan struct{}
	path string
}

// NewLogin returns the login shell that an environment names. Nothing is
// started before Path is called, and nothing is left once ctx has ended.
func NewLogin(ctx context.Context, environ func() []string) *Login {
	return &Login{ctx: ctx, shell: UserShell(environ()), environ: environ, done: make(chan struct{})}
}

// Path is the PATH as the login shell sees it, followed by what only the
// environment's own has. A program started from a desktop does not inherit what
// shells set up for nvm, Homebrew and the like. The shell is asked once, for at
// most 10 s; while it has not answered, when ctx ends and on Windows, the
// answer is the environment's own PATH.
func (l *Login) Path(ctx context.Context) string {
	own := Variable(l.environ(), "PATH")
	if runtime.GOOS == "windows" {
		return own
	}
	l.once.Do(func() {
		go func() {
			defer close(l.done)
			l.path = askLogin(l.ctx, l.shell, l.environ(), loginLimit)
		}()
	})
	select {
	case <-l.done:
	case <-ctx.Done():
		return own
	}
	return joinPaths(l.path, own)
}

// Variable is the value of a variable in an environment, "" when it has none.
func Variable(environ []string, name string) string {
	for _, kv := range environ {
		k, value, _ := strings.Cut(kv, "=")
		if k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name) {
			return value
		}
	}
	return ""
}

// UserShell is the absolute path of the user's shell: $SHELL of the
// environment, else the usual one of the system. It has no meaning on Windows.
func UserShell(environ []string) string {
	if s := Variable(environ, "SHELL"); filepath.IsAbs(s) {
		found, _ := executable(s)
		// Accounts that nobody logs in to have one of these.
		if base := filepath.Base(s); found != "" && base != "nologin" && base != "false" {
			return s
		}
	}
	candidates := []string{"/bin/sh"}
	if runtime.GOOS == "darwin" {
		candidates = []string{"/bin/zsh", "/bin/sh"}
	}
	for _, s := range candidates {
		if found, _ := executable(s); found != "" {
			return s
		}
	}
	return "/bin/sh"
}

// askLogin starts a login shell that is also interactive, because that is
// where version managers put their lines. What else start-up files print is
// left out by a fence around the answer.
func askLogin(ctx context.Context, shell string, environ []string, limit time.Duration) string {
	const fence = "\x01path\x01"
	env := []string{}
	for _, kv := range environ {
		if !strings.HasPrefix(strings.ToUpper(kv), "ZEROCLAW_") {
			env = append(env, kv)
		}
	}
	env = append(env, "TERM=dumb")
	var out capped
	p, err := Start(shell, []string{shell, "-ilc", `printf '\001path\001%s\001path\001' "$PATH"`}, Options{Env: env, Stdout: &out})
	if err != nil {
		return ""
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.Done():
	case <-t.C:
	case <-ctx.Done():
	}
	p.Kill()
	<-p.Done()
	_, rest, ok := bytes.Cut(out.bytes(), []byte(fence))
	path, _, closed := bytes.Cut(rest, []byte(fence))
	if !ok || !closed {
		return ""
	}
	return string(path)
}

// joinPaths puts the absolute folders of both together, without repetitions.
func joinPaths(first, second string) string {
	return strings.Join(SearchFolders(first+string(os.PathListSeparator)+second), string(os.PathListSeparator))
}

// capped keeps the first 64 KiB of what is written to it.
type capped struct {
	mu sync.Mutex
	b  []byte
}

func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.b = append(c.b, b[:min(len(b), 64<<10-len(c.b))]...)
	return len(b), nil
}

func (c *capped) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b
}
