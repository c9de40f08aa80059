package config

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools/atomicfile"
)

// A lock that somebody else holds and never gives back ends the save, and
// keeps nothing else from counting: least of all a denial written by hand.
func TestWedgedLock(t *testing.T) {
	dir := folder(t, "")
	synctest.Test(t, func(t *testing.T) {
		f := open(t, dir)
		mustSet(t, f, put("server.port", 7001)...) // makes the folder of the lock
		unlock, err := atomicfile.TryLock(filepath.Join(dir, "run", "config.lock"))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		saved := make(chan error, 2)
		for range 2 { // the second waits behind the first
			go func() {
				_, err := f.Set(t.Context(), "", put("server.port", 7002))
				saved <- err
			}()
		}
		time.Sleep(time.Second)
		write(t, dir, "[permissions.tools.execute_command]\nmode = \"deny\"\n")
		f.Reload()
		if m := f.Current().Permissions.Tools["execute_command"].Mode; m != permissions.ModeDeny {
			t.Errorf("the denial written by hand counts as %q", m)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("reading the file waited until %s", took)
		}
		for range 2 {
			if err := <-saved; !errors.Is(err, ErrBusy) {
				t.Errorf("Set = %v, want ErrBusy", err)
			}
		}
		if took := time.Since(began); took < lockLimit || took > lockLimit+time.Second {
			t.Errorf("gave up after %s, want %s", took, lockLimit)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.Set(ctx, "", put("server.port", 7002)); !errors.Is(err, context.Canceled) {
			t.Errorf("Set with its context over = %v", err)
		}
		unlock()
		mustSet(t, f, put("server.port", 7003)...)
	})
}
