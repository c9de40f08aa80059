package files

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
)

// gate calls tools the way the Runner does: plan, resolve, judge by the rules,
// run. A verdict of Ask is answered by a person who says yes.
type gate struct {
	t     testing.TB
	files *Files
	root  string
	r     *resolve.Resolver
	set   permissions.Settings
	grant permissions.Grant
}

func newGate(t testing.TB, rules ...string) *gate {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, root: filepath.Join(dir, "root")}
	state := filepath.Join(dir, "home", ".zeroclaw")
	for _, d := range []string{g.root, state} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g.files = New(Config{Undo: filepath.Join(state, "undo")})
	if g.r, err = resolve.New(resolve.Config{Root: g.root, Home: filepath.Join(dir, "home"), State: state}); err != nil {
		t.Fatal(err)
	}
	parsed, bad := permissions.ParseRules(rules)
	if len(bad) > 0 {
		t.Fatalf("rules: %v", bad)
	}
	g.set.Rules = g.r.Anchor(parsed, nil)
	g.grant, _ = permissions.NewGrant(permissions.Inputs{Agent: permissions.BuiltinAgent})
	return g
}

func (g *gate) judge(tool string) func(string, permissions.Op) (permissions.Path, permissions.Verdict) {
	return func(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
		p := g.r.Path(path, op, false)
		return p, permissions.Decide(g.set, g.grant, permissions.Request{Tool: tool, Origin: permissions.OriginLocal, Paths: []permissions.Path{p}})
	}
}

func (g *gate) mayRead(p permissions.Path) bool {
	p.Op = permissions.OpRead
	for _, r := range g.set.Rules {
		if r.Covers(p) {
			return true
		}
	}
	return false
}

func (g *gate) tool(name string) tools.Planner {
	for _, t := range g.files.Tools() {
		if t.Spec().Name == name {
			return t.(tools.Planner)
		}
	}
	g.t.Fatalf("no tool %s", name)
	return nil
}

func (g *gate) pass(name string, paths []permissions.Path) context.Context {
	return tools.WithPass(context.Background(), &tools.Pass{
		CallID: "c1", Session: "s1", Paths: paths, Root: filepath.ToSlash(g.root), MayRead: g.mayRead, Judge: g.judge(name),
		Progress: func(tools.Progress) {},
	})
}

// plan returns the plan and the judged paths.
func (g *gate) plan(name, args string) (tools.Plan, []permissions.Path, error) {
	plan, err := g.tool(name).Plan(context.Background(), json.RawMessage(args))
	if err != nil {
		return plan, nil, err
	}
	var paths []permissions.Path
	for _, u := range plan.Uses {
		paths = append(paths, g.r.Path(u.Path, u.Op, u.Walk))
	}
	return plan, paths, nil
}

func (g *gate) try(name, args string) (tools.Result, error) {
	_, paths, err := g.plan(name, args)
	if err != nil {
		return tools.Result{}, err
	}
	return g.tool(name).Run(g.pass(name, paths), json.RawMessage(args))
}

// call is try for a call that must bring a result.
func (g *gate) call(name string, args map[string]any) tools.Result {
	g.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		g.t.Fatal(err)
	}
	r, err := g.try(name, string(b))
	if err != nil {
		g.t.Fatalf("%s %s: %v", name, b, err)
	}
	if r.Structured != nil && !json.Valid(r.Structured) {
		g.t.Fatalf("%s: structured result is not valid JSON: %q", name, r.Structured)
	}
	return r
}

func into[T any](t testing.TB, r tools.Result) T {
	t.Helper()
	var v T
	if r.IsError {
		t.Fatalf("the tool failed: %s", r.Content[0].Text)
	}
	if err := json.Unmarshal(r.Structured, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// fails checks that a call brings an error or a failed result whose text has
// all of want.
func (g *gate) fails(name, args string, want ...string) {
	g.t.Helper()
	r, err := g.try(name, args)
	text := ""
	switch {
	case err != nil:
		text = err.Error()
	case r.IsError:
		text = r.Content[0].Text
	default:
		g.t.Errorf("%s %.200s: no error, %.200s", name, args, r.Structured)
		return
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			g.t.Errorf("%s %.200s: error %q lacks %q", name, args, text, w)
		}
	}
}

func (g *gate) path(name string) string { return filepath.Join(g.root, filepath.FromSlash(name)) }

func (g *gate) write(name, text string) {
	g.t.Helper()
	if err := os.MkdirAll(filepath.Dir(g.path(name)), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(g.path(name), []byte(text), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gate) read(name string) string {
	g.t.Helper()
	b, err := os.ReadFile(g.path(name))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(b)
}
