package config

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// saverDir makes the test binary a saver: it adds rules to the configuration
// of that folder until it is killed, and says so once each is saved.
const saverDir = "ZEROCLAW_TEST_SAVER"

// fullDir makes it save once in that folder while no file may grow beyond a
// few bytes, as on a full disk.
const fullDir = "ZEROCLAW_TEST_FULL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(saverDir); dir != "" {
		saver(dir)
	}
	if dir := os.Getenv(fullDir); dir != "" {
		saveWithoutSpace(dir)
	}
	goleak.VerifyTestMain(m)
}

func saver(dir string) {
	f, err := Open(Config{Dir: dir, Environ: []string{}})
	for i := 0; err == nil; i++ {
		name := fmt.Sprintf("R:./saver/%d-%d", os.Getpid(), i)
		if _, err = f.Set(context.Background(), "", []Edit{
			{Op: Add, Path: "permissions.directories", Value: name},
			{Path: "providers.work.api_key", Value: "planted-" + strconv.Itoa(i)},
		}); err == nil {
			fmt.Println(name)
		}
	}
	fmt.Println("error:", err)
	os.Exit(1)
}

// kills is how many savers are killed: a few by default, ZEROCLAW_KILLS as
// given, 5000 with ZEROCLAW_LONG=1.
func kills(t *testing.T) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("ZEROCLAW_KILLS")); err == nil {
		return n
	}
	if os.Getenv("ZEROCLAW_LONG") == "1" {
		return 5000
	}
	return 40
}

// TestKilledWhileSaving: after kill -9 at any moment the file parses, keeps
// every byte of the person's own, and holds each save that was reported.
func TestKilledWhileSaving(t *testing.T) {
	own := "# mine, always\r\n[future]\r\nx = 1 # note\r\n"
	dir := folder(t, own)
	lost, done := 0, 0
	for i := range kills(t) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), saverDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		var saved []string
		// The first save comes after start-up; from then on the process does
		// nothing but save, and is killed somewhere in it.
		first, err := lines.ReadString('\n')
		if err != nil || strings.HasPrefix(first, "error:") {
			t.Fatalf("kill %d: the saver said %q, %v", i, first, err)
		}
		time.Sleep(time.Duration(i*1237%9000) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		saved = append(saved, strings.TrimSpace(first))
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			saved = append(saved, strings.TrimSpace(line))
		}
		// Its exit is a kill: no news.
		_ = cmd.Wait()
		done += len(saved)
		s := open(t, dir).Current()
		text := read(t, dir)
		if s.Unreadable || !strings.HasPrefix(text, own) || strings.Contains(text, "planted") || strings.Count(text, "enc2:") != 1 {
			t.Fatalf("kill %d: problems %v, file\n%s", i, s.Problems, text)
		}
		for _, rule := range saved {
			if !strings.Contains(text, strconv.Quote(rule)) {
				lost++
			}
		}
		if i%20 == 19 {
			// Not longer and longer.
			mustSet(t, open(t, dir), Edit{Op: Unset, Path: "permissions.directories"})
		}
	}
	// An hour later the next save tidies up after them.
	later, err := Open(Config{Dir: dir, Environ: []string{}, Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	mustSet(t, later, put("server.port", 9)...)
	if left, _ := filepath.Glob(filepath.Join(dir, ".zeroclaw-write-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if lost > 0 {
		t.Errorf("%d of %d saves were lost", lost, done)
	}
	t.Logf("%d kills, %d saves", kills(t), done)
}

// TestParallelSavers: 20 at once, half of them with their own File as another
// process has it; every save is there in the end.
func TestParallelSavers(t *testing.T) {
	dir := folder(t, "# mine\n[permissions]\ndirectories = [\n  \"R:./mine\", # keep\n]\n")
	shared := open(t, dir)
	const savers, each = 20, 10
	var wg sync.WaitGroup
	for i := range savers {
		f := shared
		if i%2 == 0 {
			f = open(t, dir)
		}
		wg.Go(func() {
			for j := range each {
				rule := fmt.Sprintf("R:./s%d/%d", i, j)
				var err error
				switch i % 4 {
				case 0, 1:
					_, err = f.Set(context.Background(), "", []Edit{{Op: Add, Path: "permissions.directories", Value: rule}})
				default:
					// With a version, as the page does it: on a conflict it loads
					// again and retries.
					for {
						s := f.Reload()
						_, err = f.Set(context.Background(), s.Version, put("permissions.directories", append(append([]string{}, s.Permissions.Directories...), rule)))
						if !errors.Is(err, ErrChanged) {
							break
						}
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := open(t, dir).Current()
	if len(s.Permissions.Rules) != savers*each+1 || len(s.Problems) > 0 {
		t.Errorf("%d rules, want %d; problems %v", len(s.Permissions.Rules), savers*each+1, s.Problems)
	}
	if text := read(t, dir); !strings.HasPrefix(text, "# mine\n[permissions]\ndirectories = [\n  \"R:./mine\", # keep\n") {
		t.Errorf("the file begins %q", text[:60])
	}
}
