package localserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// goClient runs the client of the Go SDK, a program that is a module of its own
// below mcpserver/testdata.
type goClient struct {
	*rig
	program, token, version string
	told                    func(progress string) // as it comes; nil: nobody wants to know
}

// goCall is what that program prints.
type goCall struct {
	Version, Text   string
	IsError         bool
	Tools           []string
	Asked, Progress []string
}

func buildGoClient(t *testing.T) string {
	t.Helper()
	if os.Getenv("ZEROCLAW_NODE_MODULES") == "" {
		t.Skip("ZEROCLAW_NODE_MODULES is not set: no programs by others are fetched")
	}
	program := filepath.Join(t.TempDir(), "gosdk.exe") // the only ending that Windows runs
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join("mcpserver", "testdata", "gosdk")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the client of the Go SDK cannot be built: %v: %s", err, out)
	}
	return program
}

// call lists the tools and calls one. failed is what the program says when it
// does not get so far.
func (c goClient) call(tool string, more ...string) (out goCall, failed string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, append([]string{"-url", c.server.Address() + "mcp?agent=w",
		"-version", c.version, "-tool", tool, "-args", `{"a":1}`}, more...)...)
	cmd.Env = append(os.Environ(), "ZEROCLAW_TOKEN="+c.token)
	var said, wrong bytes.Buffer
	cmd.Stdout = &said
	told, err := cmd.StderrPipe()
	if err != nil {
		c.t.Error(err)
		return out, err.Error()
	}
	if err := cmd.Start(); err != nil {
		return out, err.Error()
	}
	for lines := bufio.NewScanner(told); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "progress: "); !ok {
			fmt.Fprintln(&wrong, lines.Text())
		} else if c.told != nil {
			c.told(text)
		}
	}
	if err := cmd.Wait(); err != nil {
		return out, err.Error() + ": " + wrong.String()
	}
	if err := json.Unmarshal(said.Bytes(), &out); err != nil {
		c.t.Errorf("%s printed %s: %v", tool, said.Bytes(), err)
	}
	return out, ""
}

// waitingInPage is what a program is told while somebody is asked.
const waitingInPage = "Waiting for an answer in the ZeroClaw page"

// TestMCPGoSDK: the client of the Go SDK lists and calls with a named token, in
// both eras; what its calls ask is answered in the page or by itself.
func TestMCPGoSDK(t *testing.T) {
	program := buildGoClient(t)
	r := configured(t, stub{Tools: stubTools("add", "plain")}.server(t, "s"),
		askAgent+"risk_profile = \"p\"\n[risk_profiles.p]\nauto_approve = [\"s__plain\"]\n")
	r.listen()
	named := do[struct{ Token string }](r, "POST", "/api/tokens", map[string]any{"name": "sdk", "agent": "w"})
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			r := *r
			r.t = t
			c := goClient{rig: &r, program: program, token: named.Token, version: version}
			out, failed := c.call("s__plain")
			if failed != "" || out.Version != version || out.Text != `{"a":1}` || out.IsError || len(out.Asked) > 0 {
				t.Errorf("a call that is allowed = %+v, %s", out, failed)
			}
			if !slices.Contains(out.Tools, "s__add") || !slices.Contains(out.Tools, "read_file") {
				t.Errorf("the list = %v", out.Tools)
			}
			stranger := c
			stranger.token += "x"
			if out, failed := stranger.call("s__plain"); !strings.Contains(failed, "Unauthorized") {
				t.Errorf("a wrong token = %+v, %s", out, failed)
			}
			for _, tt := range []struct {
				name, decide string         // at the program, "" = nobody is there
				page         map[string]any // the answer in the page, nil = none
				text         string
				isError      bool
			}{
				{"page", "", map[string]any{"decision": "once"}, `{"a":1}`, false},
				{"page denies", "", map[string]any{"decision": "deny", "reason": "not now"}, "not now", true},
				{"program", "once", nil, `{"a":1}`, false},
				{"program denies", "deny", nil, "denied by the user", true},
			} {
				ended, told := make(chan struct{}), make(chan struct{})
				heard := sync.OnceFunc(func() { close(told) })
				c := c
				c.told = func(text string) {
					if text == waitingInPage {
						heard()
					}
				}
				var out goCall
				var failed string
				go func() {
					defer close(ended)
					var more []string
					if tt.decide != "" {
						more = []string{"-decide", tt.decide}
					}
					out, failed = c.call("s__add", more...)
				}()
				if tt.page != nil {
					select { // only then: a call that is decided at once tells of no waiting
					case <-told:
					case <-ended:
						t.Errorf("%s: it ended before the program was told that somebody is asked: %+v, %s", tt.name, out, failed)
						continue
					}
					do[map[string]any](&r, "POST", "/api/approvals/"+r.onlyQuestion(), tt.page)
				}
				<-ended
				if failed != "" || !strings.Contains(out.Text, tt.text) || out.IsError != tt.isError {
					t.Errorf("%s: %+v, %s", tt.name, out, failed)
				}
				if asked := len(out.Asked) == 1 && strings.Contains(out.Asked[0], "s__add"); asked != (tt.decide != "") {
					t.Errorf("%s: the program is asked %q", tt.name, out.Asked)
				}
				if tt.page != nil && !slices.Contains(out.Progress, waitingInPage) {
					t.Errorf("%s: the program is told %q", tt.name, out.Progress)
				}
			}
			if n := r.server.mcp.Busy(); n != 0 {
				t.Errorf("%d calls are left", n)
			}
		})
	}
}

// onlyQuestion waits until one question is open and returns its id.
func (r *rig) onlyQuestion() string {
	r.t.Helper()
	return eventually(r, func() (string, bool) {
		open := do[struct{ Approvals []struct{ ID string } }](r, "GET", "/api/approvals", nil)
		if len(open.Approvals) != 1 {
			return "", false
		}
		return open.Approvals[0].ID, true
	})
}
