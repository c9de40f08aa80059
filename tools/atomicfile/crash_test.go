package atomicfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const crashFile = "ATOMICFILE_CRASH_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		for i := 0; ; i++ {
			if err := Write(path, crashContent(byte('a'+i%26)), Options{}); err != nil {
				os.Exit(3)
			}
		}
	}
	os.Exit(m.Run())
}

// crashContent is one letter, many times: any mixture shows.
func crashContent(c byte) []byte { return bytes.Repeat([]byte{c}, 1<<20+int(c)) }

// TestKilledWriterLeavesOldOrNew kills a process that saves all the time.
// peer bug L7: a write that is cut short leaves half a file.
func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	kills := 25
	if os.Getenv("ZEROCLAW_LONG") != "" {
		kills = 1000
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(path, crashContent('a'), Options{}); err != nil {
		t.Fatal(err)
	}
	seen := map[byte]bool{}
	// On a busy machine the writer is given more and more time to start.
	for n := 0; n < kills || len(seen) < 2 && n < 8*kills; n++ {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), crashFile+"="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep((10*time.Millisecond + time.Duration(rand.IntN(40_000))*time.Microsecond) << (n / kills))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 3 {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		got, err := os.ReadFile(path)
		if err != nil || len(got) == 0 || !bytes.Equal(got, crashContent(got[0])) {
			t.Fatalf("after a kill the file is neither old nor new: %d bytes, %v", len(got), err)
		}
		seen[got[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("the writer never got as far as a second save; the test proves nothing")
	}
	if _, err := RemoveStale(dir, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	onlyFiles(t, dir, "f")
}

func TestParallelWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 5 {
				if err := Write(path, crashContent(byte('a'+i)), Options{}); err != nil {
					t.Error(err)
				}
				got, err := os.ReadFile(path)
				if err != nil || len(got) == 0 || !bytes.Equal(got, crashContent(got[0])) {
					t.Errorf("a reader saw half a file: %d bytes, %v", len(got), err)
				}
			}
		})
	}
	wg.Wait()
	onlyFiles(t, dir, "f")
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("second TryLock = %v, want ErrLocked", err)
	}
	unlock()
	unlock()
	u, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	u()
	if err := os.Remove(path); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
}
