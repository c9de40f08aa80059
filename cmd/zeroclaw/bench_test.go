//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart measures the companion and a bare net/http server in the same
// run, turn by turn: the time from the start of the process to its first
// answer, and the memory it then rests at. The figures that count are the
// ratios.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	build := func(name, source string) string {
		out := filepath.Join(dir, name)
		if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", out, source).CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", source, err, text)
		}
		return out
	}
	companion, bare := build("zeroclaw", "."), build("bare", "./testdata/bare")
	var ours, theirs []time.Duration
	var ourMemory, theirMemory []int
	for b.Loop() {
		home := b.TempDir()
		took, memory := startOnce(b, home, func(port string) []string {
			return []string{companion, "--no-browser", "--port", port, "--root", home}
		})
		ours, ourMemory = append(ours, took), append(ourMemory, memory)
		took, memory = startOnce(b, home, func(port string) []string { return []string{bare, "127.0.0.1:" + port} })
		theirs, theirMemory = append(theirs, took), append(theirMemory, memory)
	}
	b.ReportMetric(median(ours).Seconds()*1000, "start-ms")
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "start-ratio")
	b.ReportMetric(float64(median(ourMemory))/1024, "idle-MB")
	b.ReportMetric(float64(median(ourMemory))/float64(median(theirMemory)), "idle-ratio")
}

func startOnce(b *testing.B, home string, argv func(port string) []string) (time.Duration, int) {
	b.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	ln.Close()
	args := argv(port)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	for {
		if a, err := http.Get("http://127.0.0.1:" + port + "/"); err == nil {
			a.Body.Close()
			break
		}
		if time.Since(start) > 20*time.Second {
			b.Fatalf("%s did not answer", args[0])
		}
		time.Sleep(500 * time.Microsecond)
	}
	took := time.Since(start)
	time.Sleep(500 * time.Millisecond) // what the start left running comes to rest
	return took, resident(b, cmd.Process.Pid)
}

// resident is the memory of a process in KB.
func resident(b *testing.B, pid int) int {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return kb
}

func median[T int | time.Duration](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}
