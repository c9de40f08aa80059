package services

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

type fakeInstaller struct {
	mu   sync.Mutex
	have bool
	run  func(ctx context.Context) error
}

func (f *fakeInstaller) Installed(Spec) bool { f.mu.Lock(); defer f.mu.Unlock(); return f.have }
func (f *fakeInstaller) Install(ctx context.Context, _ Spec, progress func(string)) error {
	progress("fetching")
	if err := f.run(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.have = true
	return nil
}

func TestInstall(t *testing.T) {
	spec := server("x")
	spec.Installer = &Installer{Type: "npm", Packages: map[string]string{"p": "1.0.0"}}
	in := &fakeInstaller{run: func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Minute):
			return nil
		}
	}}
	bubble(t, Config{Installer: in}, []Spec{spec}, func(t *testing.T, r *rig) {
		r.state(t, "x", NotInstalled)
		if err := r.Start("x"); err == nil {
			t.Error("started without installing")
		}
		if err := r.Install("x"); err != nil {
			t.Fatal(err)
		}
		if st := r.state(t, "x", Installing); st.Reason != "fetching" {
			t.Errorf("reason = %q", st.Reason)
		}
		// Stopping it is possible, and it can be taken up again.
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		r.state(t, "x", NotInstalled)
		_ = r.Install("x")
		if err := r.Start("x"); err != nil {
			t.Errorf("a start while it installs waits: %v", err)
		}
		time.Sleep(61 * time.Second)
		r.state(t, "x", Running)
	})
	in = &fakeInstaller{run: func(context.Context) error { return errors.New("no network") }}
	bubble(t, Config{Installer: in}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Install("x")
		if st := r.state(t, "x", Failed); st.Reason != "installing: no network" {
			t.Errorf("reason = %q", st.Reason)
		}
	})
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		r.state(t, "x", NotInstalled)
		if err := r.Install("x"); err == nil {
			t.Error("installed without an installer")
		}
	})
}
