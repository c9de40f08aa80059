package services

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// The steps of a test. A server that is a process has no connect, a remote one
// no program, and one that speaks bare JSON-RPC no handshake.
const (
	StepProgram   = "program"   // it is found and starts
	StepConnect   = "connect"   // it is reached
	StepHandshake = "handshake" // it speaks MCP
	StepTools     = "tools"     // it lists its tools
)

// TestReport is what came of trying a definition.
type TestReport struct {
	OK bool `json:"ok"`
	// Steps are those that were reached, in their order; the last one tells
	// why it is not OK.
	Steps         []TestStep `json:"steps"`
	Protocol      string     `json:"protocol"`
	ServerName    string     `json:"server_name"`
	ServerVersion string     `json:"server_version"`
	// Tools are the names that the server gives them.
	Tools []string `json:"tools"`
	// Capabilities are the parts of the protocol that it declares.
	Capabilities []string  `json:"capabilities"`
	Log          []LogLine `json:"log"`
}

// TestStep is one step of a test: Detail is a sentence, MS how long it took.
type TestStep struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	MS     int64  `json:"ms"`
}

// maxTests bounds how many tests run at a time; more wait.
const maxTests = 4

// Test connects to a server by a definition that need not be known, lists its
// tools, and ends it again, within the handshake time. Nothing of it is kept,
// and a server of the same name that runs is not touched. Serve must be running.
func (v *Supervisor) Test(ctx context.Context, spec Spec) TestReport {
	run := &testRun{sup: v, spec: spec, concealer: concealer{all: v.config.Redact}, began: time.Now()}
	run.learn(spec)
	run.log = &ring{now: v.config.Now, redact: run.redact}
	ctx, done, err := v.enterTest(ctx)
	if err == nil {
		defer done()
		err = run.do(ctx)
	}
	if err != nil {
		at := run.failedAt(err)
		if at == StepHandshake && spec.remote() {
			run.step(StepConnect, true, publicURL(spec.URL))
		}
		run.step(at, false, err.Error())
	}
	return run.report()
}

// enterTest waits for its turn. What it started ends with Serve.
func (v *Supervisor) enterTest(ctx context.Context) (tctx context.Context, done func(), err error) {
	select {
	case v.testing <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("waiting for other tests: %w", context.Cause(ctx))
	}
	v.mu.Lock()
	serving := v.ctx
	if serving == nil || serving.Err() != nil {
		v.mu.Unlock()
		<-v.testing
		return nil, nil, errors.New("the companion is not running servers now")
	}
	v.running.Add(1)
	v.mu.Unlock()
	tctx, cancel := context.WithCancelCause(ctx)
	unbind := context.AfterFunc(serving, func() { cancel(errors.New("the companion quits")) })
	return tctx, func() {
		unbind()
		cancel(nil)
		<-v.testing
		v.running.Done()
	}, nil
}

// testRun is one test.
type testRun struct {
	concealer
	sup   *Supervisor
	spec  Spec
	log   *ring
	began time.Time // of the step that is under way
	names []string

	mu    sync.Mutex // guards the rest
	steps []TestStep
	info  Info
}

func (r *testRun) do(ctx context.Context) error {
	if r.spec.Invalid != nil {
		return r.spec.Invalid
	}
	spec, err := Expand(ctx, r.spec, r.values(), r.sup.vars())
	if err != nil {
		return err
	}
	limit := spec.handshakeTimeout()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not ready within %s", limit))
	defer cancel()
	peer, err := r.sup.config.Connector.Connect(ctx, spec, r.hooks())
	if err != nil {
		return late(ctx, err)
	}
	// A test that is given up ends as quickly as a start that failed.
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failedTime)
		defer cancel()
		if err := peer.Close(cctx); err != nil {
			r.log.add("companion", err.Error())
		}
	}()
	r.connected()
	list, err := peer.Tools(ctx)
	if err != nil {
		return late(ctx, err)
	}
	kept, notices := admitTools(list, MaxTools)
	for _, n := range notices {
		r.log.add("companion", n)
	}
	for _, t := range kept {
		r.names = append(r.names, t.Name)
	}
	r.step(StepTools, true, fmt.Sprintf("%d tools", len(kept)))
	return nil
}

// values are the options of the service that a definition is the one of.
func (r *testRun) values() map[string]any {
	s, err := r.sup.find(r.spec.Name)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved.Options
}

func (r *testRun) hooks() Hooks {
	return Hooks{
		Log:    r.log.add,
		Notice: func(text string) { r.log.add("companion", text) },
		Info: func(i Info) {
			r.mu.Lock()
			first := r.info.Pid == 0 && i.Pid > 0 && !r.spec.remote()
			r.info = i
			r.mu.Unlock()
			if first && len(i.Command) > 0 {
				r.step(StepProgram, true, i.Command[0])
			}
		},
		ToolsChanged: func() {},
		Closed:       func(error) {},
		Roots:        r.sup.config.Roots,
	}
}

// connected notes the steps that a connection proves.
func (r *testRun) connected() {
	r.mu.Lock()
	info, started := r.info, len(r.steps) > 0
	r.mu.Unlock()
	if r.spec.remote() {
		r.step(StepConnect, true, publicURL(r.spec.URL))
	} else if !started {
		r.step(StepProgram, true, r.spec.Command)
	}
	if r.spec.Transport != TransportJSONRPC {
		r.step(StepHandshake, true, strings.TrimSpace(fmt.Sprintf("MCP %s, %s %s", info.Protocol, Clip(info.ServerName, 200), Clip(info.ServerVersion, 100))))
	}
}

// failedAt is the step that an error belongs to.
func (r *testRun) failedAt(err error) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := ""
	if len(r.steps) > 0 {
		last = r.steps[len(r.steps)-1].Name
	}
	switch {
	case last == StepProgram && !r.spec.remote():
		return StepHandshake
	case last != "":
		return StepTools
	case !r.spec.remote():
		return StepProgram
	case r.spec.Transport == TransportJSONRPC || !spoken(err):
		return StepConnect
	}
	return StepHandshake
}

// spoken reports whether an error of a remote server is about what it said,
// not about reaching it.
func spoken(err error) bool {
	if wasAnswered(err) {
		return true
	}
	var dial *net.OpError
	var name *net.DNSError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var reached interface{ Reached() bool }
	if errors.As(err, &reached) {
		return reached.Reached()
	}
	return !errors.As(err, &dial) && !errors.As(err, &name) && !errors.As(err, &verify) && !errors.As(err, &record) && !errors.As(err, &authority)
}

// step ends the step that is under way.
func (r *testRun) step(name string, ok bool, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.steps = append(r.steps, TestStep{Name: name, OK: ok, Detail: r.shown(detail, 2000), MS: now.Sub(r.began).Milliseconds()})
	r.began = now
}

func (r *testRun) report() TestReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := TestReport{Steps: r.steps, Protocol: r.info.Protocol, ServerName: r.shown(r.info.ServerName, 200),
		ServerVersion: r.shown(r.info.ServerVersion, 100), Tools: r.shownAll(append([]string{}, r.names...)),
		Capabilities: r.shownAll(capabilitiesOf(r.info.Capabilities)), Log: r.log.after(0, 200)}
	t.OK = len(t.Steps) > 0 && t.Steps[len(t.Steps)-1].OK
	return t
}

// shownAll are names of the server, safe to show.
func (r *testRun) shownAll(names []string) []string {
	for i := range names {
		names[i] = r.shown(names[i], maxNameText)
	}
	return names
}

// capabilitiesOf are the names in a capability object, at most 50.
func capabilitiesOf(raw json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return []string{}
	}
	names := []string{}
	for _, name := range sortedKeys(fields) {
		if v := string(fields[name]); v != "null" && v != "false" && len(names) < 50 {
			names = append(names, name)
		}
	}
	return slices.Clip(names)
}
