package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
	"zeroclaw/tools/process"
)

// backgroundMoment is how long a call with background: true waits for first output.
const backgroundMoment = time.Second

// end is why a job is no longer waited for.
type end string

const (
	ended     end = ""           // the command itself ended
	timedOut  end = "timeout"    // its time was up
	cancelled end = "cancelled"  // its call was cancelled
	flooded   end = "flood"      // it wrote more than a stream may carry
	goesOn    end = "background" // it was asked to go on
)

// Run executes an allowed command. A command that ends with whatever exit code
// is a result; one that was ended by us has IsError. When ctx ends Run returns
// the output so far together with an error that wraps the one of ctx.
func (t tool) Run(ctx context.Context, raw json.RawMessage) (tools.Result, error) {
	a, err := parse(raw)
	if err != nil {
		return tools.Result{}, err
	}
	pass, ok := tools.PassFrom(ctx)
	if !ok || pass.Command == nil {
		return tools.Result{}, errors.New("run a command: it was not judged, so it is not run")
	}
	c := *pass.Command
	if c.Text != a.Command || pass.Direct && c.Class != permissions.Simple {
		return tools.Result{}, errors.New("run a command: it is not the one that was judged, so it is not run")
	}
	dir, release, err := enter(c.Cwd)
	if err != nil {
		return tools.Result{}, err
	}
	cwd := filepath.FromSlash(c.Cwd.Real)
	env, path := t.environment(ctx, pass.Direct, cwd)
	f := facts{
		system: System(), shell: t.c.Shell, cwd: cwd, path: path,
		words: c.Words, maxProcesses: t.c.MaxProcesses, maxOutput: t.c.MaxOutput, timeout: a.timeout(),
	}
	l := launch{dir: dir, cwd: cwd, env: env, command: a.Command, session: pass.Session, output: pass.Output}
	if pass.Direct {
		f.shell = ""
		l.path, l.argv = c.Binary, c.Argv
		if l.path == "" {
			release()
			f.exit, f.missing = 127, c.Argv[0]
			return f.result(kept{}, kept{}), nil
		}
		// The program opens its operands by name, so this is the last moment to
		// see whether they still are what the rules let through.
		if err := unchanged(c.Paths); err != nil {
			release()
			return tools.Result{}, err
		}
	} else {
		l.path, l.argv = t.c.Shell, shellArgv(t.c.Shell, a.Command)
	}
	j, err := t.start(l)
	release()
	if err != nil {
		return tools.Result{}, fmt.Errorf("run the command: %w", err)
	}
	return t.follow(ctx, j, f, a)
}

// follow waits for the end of a job, in whatever way, and tells what became of it.
func (t tool) follow(ctx context.Context, j *job, f facts, a arguments) (tools.Result, error) {
	f.end = await(ctx, j, a)
	switch f.end {
	case timedOut, cancelled:
		j.stop(callGrace)
	case flooded:
		j.p.Kill()
	case ended:
		// Most commands leave nobody behind; then a look around is saved. And
		// a family that is just being killed for its size does not go on.
		if !soon(j.p.Gone(), 30*time.Millisecond) && !j.p.TooMany() {
			f.running = j.p.Alive()
		}
	case goesOn:
		f.running = j.p.Alive()
	}
	if len(f.running) > 0 {
		j.settle(time.Second)
	} else if !soon(j.over, 3*time.Second) {
		f.running = j.p.Alive() // the system does not let go of them
	}
	f.state, f.tooMany = j.p.State(), j.p.TooMany()
	f.exit = f.state.ExitCode
	f.ours = f.tooMany || f.end == timedOut || f.end == flooded || f.end == cancelled
	f.took = time.Since(j.started)
	result := f.result(j.out[0].text(), j.out[1].text())
	j.leave()
	if f.end == cancelled {
		return result, fmt.Errorf("the command was cancelled and everything it started was ended: %w", context.Cause(ctx))
	}
	return result, nil
}

// await blocks until the job ends or there is a reason to stop waiting.
func await(ctx context.Context, j *job, a arguments) end {
	var late, moment <-chan time.Time
	if d := a.timeout(); d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		late = t.C
	}
	if a.Back {
		t := time.NewTimer(backgroundMoment)
		defer t.Stop()
		moment = t.C
	}
	select {
	case <-j.p.Done():
		return ended
	case <-late:
		return timedOut
	case <-moment:
		return goesOn
	case <-j.flood:
		return flooded
	case <-ctx.Done():
		return cancelled
	}
}

// soon reports whether c is closed within d.
func soon(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// folder checks that the judged working folder is one.
func folder(p permissions.Path) error {
	shown := p.Real
	if shown == "" {
		shown = p.Given
	}
	switch {
	case p.Err != "":
		return fmt.Errorf("working folder %q: %s; nothing was run", p.Given, p.Err)
	case p.Real == "":
		return errors.New("working folder: it was not judged, so nothing was run")
	case p.Kind == permissions.KindNone:
		return fmt.Errorf("the working folder %s does not exist, so nothing was run: give a cwd that exists, or create it first", shown)
	}
	fi, err := os.Stat(filepath.FromSlash(p.Real))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the working folder %s does not exist any more, so nothing was run: give a cwd that exists", shown)
	case err != nil:
		return fmt.Errorf("the working folder %s cannot be entered, so nothing was run: %w", shown, err)
	case !fi.IsDir():
		return fmt.Errorf("the working folder %s is not a folder, so nothing was run: give a folder as cwd", shown)
	}
	return nil
}

// unchanged reports that an operand of a command that the rules let through is
// not what it was when they did.
func unchanged(operands []permissions.Path) error {
	for _, p := range operands {
		switch err := resolve.Again(p); {
		case errors.Is(err, resolve.ErrChanged):
			return fmt.Errorf("%s was changed or replaced after it had been judged; nothing was run, call again", permissions.Visible(p.Given))
		case err != nil:
			return fmt.Errorf("run a command: %w; nothing was run", err)
		}
	}
	return nil
}

// shellArgv is how a shell is told to run a text exactly as it stands.
func shellArgv(shell, text string) []string {
	if runtime.GOOS == "windows" {
		return []string{shell, "-NoProfile", "-NonInteractive", "-Command", text}
	}
	switch filepath.Base(shell) {
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh":
		if text[0] == '-' || text[0] == '+' {
			// These look for more options behind -c.
			return []string{shell, "-c", "--", text}
		}
	}
	return []string{shell, "-c", text}
}

func defaultShell(environ []string) string {
	if runtime.GOOS != "windows" {
		return process.UserShell(environ)
	}
	root := process.Variable(environ, "SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	return filepath.Join(root, "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
}
