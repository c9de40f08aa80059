package services

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A service that nobody starts runs no program, not even to be shown.
func TestNothingRunsToShowADefinition(t *testing.T) {
	asked := func(context.Context) (string, error) {
		t.Error("${node} or ${python} was asked for at rest")
		return "/found", nil
	}
	node, python, plain := folderService("node"), folderService("python"), folderService("plain")
	node.Command, python.Command = "${node}", "${python}"
	plain.Command, plain.Args, plain.Env = "${root}/run", []string{"${node}", "${python}"}, []string{"A=${python}"}
	fake := &fakeConnector{resolve: func(s Spec) string { return "/resolved" + s.Command }}
	vars := func() Vars { return Vars{Root: "/r", Self: "/bin/zc", Node: asked, Python: asked} }
	bubble(t, Config{Connector: fake, Vars: vars}, []Spec{node, python, plain}, func(t *testing.T, r *rig) {
		for name, want := range map[string]string{"node": "node", "python": "python", "plain": "/resolved/r/run"} {
			if st := r.state(t, name, Stopped); st.Command[0] != want {
				t.Errorf("%s: shown as %q, want %q", name, st.Command, want)
			}
		}
	})
}

// A stop ends the search for an interpreter, however long that takes.
func TestStopEndsTheSearchForAnInterpreter(t *testing.T) {
	endless := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	x := folderService("x")
	x.Command = "${python}"
	bubble(t, Config{Vars: func() Vars { return Vars{Python: endless} }}, []Spec{x}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Starting)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Stop(ctx, "x"); err != nil {
			t.Errorf("Stop = %v", err)
		}
		r.state(t, "x", Stopped)
		tested := make(chan TestReport, 1)
		tctx, giveUp := context.WithCancelCause(t.Context())
		go func() { tested <- r.Test(tctx, x) }()
		synctest.Wait()
		giveUp(errors.New("nobody waits"))
		if got := <-tested; got.OK {
			t.Errorf("report = %+v", got)
		}
	})
}
