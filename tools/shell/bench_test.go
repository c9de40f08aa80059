//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// BenchmarkRun prints how much longer a command takes here than with a bare
// os/exec loop in the same run.
func BenchmarkRun(b *testing.B) {
	s := New(Config{Shell: "/bin/sh"})
	defer s.Close("")
	cmd := permissions.Command{Text: "echo hi", Class: permissions.Ambiguous, Cwd: permissions.Path{Real: b.TempDir(), Kind: permissions.KindDir}}
	ctx := tools.WithPass(context.Background(), &tools.Pass{Command: &cmd})
	args := json.RawMessage(`{"command":"echo hi"}`)
	var bare time.Duration
	for b.Loop() {
		b.StopTimer()
		from := time.Now()
		if _, err := exec.Command("/bin/sh", "-c", "echo hi").CombinedOutput(); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(from)
		b.StartTimer()
		if _, err := s.Tool().Run(ctx, args); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(bare), "×bare")
}
