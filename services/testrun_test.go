package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (t TestReport) shape() string {
	var out []string
	for _, s := range t.Steps {
		out = append(out, fmt.Sprintf("%s:%t", s.Name, s.OK))
	}
	return strings.Join(out, " ")
}

func TestTestOfADefinition(t *testing.T) {
	remote := Spec{Name: "r", Origin: OriginServer, Transport: TransportHTTP, URL: "https://h.example/mcp?k=query-planted", Headers: map[string]string{"X": "header-planted"}}
	bare := remote
	bare.Transport = TransportJSONRPC
	off := server("off")
	off.Disabled = true
	dial := fmt.Errorf("posting: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")})
	for _, tt := range []struct {
		name    string
		spec    Spec
		connect func(ctx context.Context, h Hooks) error
		tools   error
		want    string
		detail  string // of the last step
	}{
		{"process", server("p"), nil, nil, "program:true handshake:true tools:true", "1 tools"},
		{"switched off is tried all the same", off, nil, nil, "program:true handshake:true tools:true", ""},
		{"remote", remote, nil, nil, "connect:true handshake:true tools:true", ""},
		{"bare", bare, nil, nil, "connect:true tools:true", ""},
		{"no program", server("p"), func(context.Context, Hooks) error { return errPermanent }, nil, "program:false", "no such program"},
		{"no greeting", server("p"), func(_ context.Context, h Hooks) error {
			h.Info(Info{Pid: 7, Command: []string{"/bin/x"}})
			return crash()
		}, nil, "program:true handshake:false", "exit code 3"},
		{"hangs", server("p"), func(ctx context.Context, h Hooks) error {
			h.Info(Info{Pid: 7, Command: []string{"/bin/x"}})
			<-ctx.Done()
			return ctx.Err()
		}, nil, "program:true handshake:false", "not ready within 25s"},
		{"nobody there", remote, func(context.Context, Hooks) error { return dial }, nil, "connect:false", "connection refused"},
		{"no name", remote, func(context.Context, Hooks) error { return &net.DNSError{Err: "no such host", Name: "h"} }, nil, "connect:false", ""},
		{"a page instead", remote, func(context.Context, Hooks) error { return errors.New("it answered a web page") }, nil, "connect:true handshake:false", "web page"},
		{"refuses", remote, func(context.Context, Hooks) error { return answeredError{dial} }, nil, "connect:true handshake:false", ""},
		{"bare, nobody there", bare, func(context.Context, Hooks) error { return dial }, nil, "connect:false", ""},
		{"no list", remote, nil, errors.New("header-planted and query-planted"), "connect:true handshake:true tools:false", "[redacted] and [redacted]"},
		{"invalid", Spec{Name: "i", Invalid: &ManifestError{File: "f", Line: 3, Message: "no command"}}, nil, nil, "program:false", "f:3: no command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake := &fakeConnector{connect: func(_ int, ctx context.Context, h Hooks) error {
				h.Log("stderr", "header-planted\x1b")
				if tt.connect != nil {
					return tt.connect(ctx, h)
				}
				h.Info(Info{Pid: 7, Command: []string{"/bin/x"}})
				return nil
			}, listing: tt.tools}
			bubble(t, Config{Connector: fake}, nil, func(t *testing.T, r *rig) {
				time.Sleep(time.Second)
				got := r.Test(t.Context(), tt.spec)
				last := got.Steps[len(got.Steps)-1]
				if got.shape() != tt.want || !strings.Contains(last.Detail, tt.detail) || got.OK != !strings.Contains(tt.want, "false") {
					t.Errorf("ok %t, %s, %q; want %s, %q", got.OK, got.shape(), last.Detail, tt.want, tt.detail)
				}
				if got.OK && (len(got.Tools) != 1 || got.Tools[0] != "echo" || got.Protocol != "2025-11-25") {
					t.Errorf("report = %+v", got)
				}
				b, err := json.Marshal(got)
				if err != nil || tt.spec.remote() && (strings.Contains(string(b), "planted") || !strings.Contains(string(b), `[redacted]\\x1b`)) {
					t.Errorf("report %s, %v", b, err)
				}
				for _, list := range []string{`"tools":null`, `"capabilities":null`, `"log":null`, `"steps":null`} {
					if strings.Contains(string(b), list) {
						t.Errorf("%s in %s", list, b)
					}
				}
				if len(r.List()) != 0 || fake.open != 0 {
					t.Errorf("%d servers known, %d connections left", len(r.List()), fake.open)
				}
			})
		})
	}
}

// A report shows no secret and nothing hidden, not in the names either.
func TestNamesInAReportAreSafeToShow(t *testing.T) {
	spec := server("p")
	spec.Env = []string{"KEY=env-planted"}
	name := "a env-planted \u202e\x1b[31m"
	fake := &fakeConnector{offers: func() []ToolDef { return []ToolDef{{Name: name}} }}
	fake.connect = func(_ int, _ context.Context, h Hooks) error { return nil }
	bubble(t, Config{Connector: fake}, nil, func(t *testing.T, r *rig) {
		synctest.Wait()
		run := &testRun{sup: r.Supervisor, spec: spec, concealer: concealer{all: r.config.Redact}}
		run.learn(spec)
		run.log = &ring{now: time.Now, redact: run.redact}
		declared, _ := json.Marshal(map[string]bool{name: true})
		run.info.Capabilities, run.names = declared, []string{name}
		got := run.report()
		for _, names := range [][]string{got.Tools, got.Capabilities, r.Test(t.Context(), spec).Tools} {
			if len(names) != 1 || names[0] != `a [redacted] \u202e\x1b[31m` {
				t.Errorf("shown as %q", names)
			}
		}
	})
}

// A test has nothing to do with the server of that name that runs.
func TestTestBesideTheRunningOne(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		r.Want("x")
		before := r.state(t, "x", Running)
		other := server("x")
		other.Command = "another"
		if got := r.Test(t.Context(), other); !got.OK {
			t.Errorf("report = %+v", got)
		}
		after := r.state(t, "x", Running)
		if after.Rev != before.Rev || after.Pid != before.Pid || len(r.Discoveries("x")) != 1 {
			t.Errorf("it changed: %+v, then %+v", before, after)
		}
		if err := r.call(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTestsAreFewAtATimeAndEnd(t *testing.T) {
	fake := &fakeConnector{connect: func(_ int, ctx context.Context, _ Hooks) error { <-ctx.Done(); return ctx.Err() }}
	bubble(t, Config{Connector: fake}, nil, func(t *testing.T, r *rig) {
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		reports := make(chan TestReport, 6)
		for range 6 {
			go func() { reports <- r.Test(ctx, server("x")) }()
		}
		synctest.Wait()
		if fake.count() != maxTests {
			t.Errorf("%d at a time", fake.count())
		}
		cancel()
		for range 6 {
			if got := <-reports; got.OK || len(got.Steps) == 0 {
				t.Errorf("report = %+v", got)
			}
		}
	})
	v, err := New(Config{Connector: fake})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Test(t.Context(), server("x")); got.OK || !strings.Contains(got.Steps[0].Detail, "not running") {
		t.Errorf("before Serve: %+v", got)
	}
}
