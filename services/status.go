package services

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// State is where a server is in its life.
type State string

// The states. A server is starting from the first attempt until its tools are
// listed, and while it waits for the next attempt after a crash.
const (
	NotInstalled State = "not_installed"
	Installing   State = "installing"
	Stopped      State = "stopped"
	Starting     State = "starting"
	Running      State = "running"
	Stopping     State = "stopping"
	Failed       State = "failed"
)

// Status is what is shown of one server; its JSON is the `service` shape of the
// HTTP API.
type Status struct {
	ID string `json:"id"`
	// Rev rises with every change, also across a restart of the companion and
	// a definition that was removed and came back: of two statuses of a server
	// the one with the higher Rev is the newer one.
	Rev         uint64            `json:"rev"`
	DisplayName map[string]string `json:"display_name"`
	Description map[string]string `json:"description"`
	Help        string            `json:"help,omitempty"`
	Origin      string            `json:"origin"`
	Transport   string            `json:"transport"`
	State       State             `json:"state"`
	// Reason is a sentence: why it failed, what it waits for.
	Reason  string         `json:"reason,omitempty"`
	Options []OptionStatus `json:"options"`
	// Tools is how many there are, ToolsFrom where they are known from: "live",
	// "remembered" or "none".
	Tools     int    `json:"tools"`
	ToolsFrom string `json:"tools_from"`
	// OnDemand is set while the server does not run and the next call starts it.
	OnDemand bool `json:"on_demand"`
	// Command is the argv that was started, or that a start would run; empty
	// for a remote server.
	Command []string `json:"command"`
	// URL is where a remote server is, without what may be secret in it.
	URL     string     `json:"url,omitempty"`
	Pid     int        `json:"pid,omitempty"`
	Started *time.Time `json:"started,omitempty"`
	LastOK  *time.Time `json:"last_ok,omitempty"`
	// LatencyMS is how long the last answer to a probe took, HandshakeMS the
	// last start until the tools were listed.
	LatencyMS   float64        `json:"latency_ms,omitempty"`
	HandshakeMS float64        `json:"handshake_ms,omitempty"`
	Breaker     *BreakerStatus `json:"breaker"`
	Protocol    string         `json:"protocol,omitempty"`
	// Restarts is how often it was started again by itself after a failure,
	// whether that worked or not.
	Restarts  int            `json:"restarts"`
	Autostart bool           `json:"autostart"`
	NextTry   *time.Time     `json:"next_try,omitempty"`
	Error     *ManifestError `json:"error,omitempty"`
	// Notices are remarks that need no action, such as tools left out.
	Notices []string `json:"notices"`
	// RestartNeeded is set when options or the definition changed since the
	// start.
	RestartNeeded bool   `json:"restart_needed"`
	ServerName    string `json:"server_name,omitempty"`
	ServerVersion string `json:"server_version,omitempty"`
}

// OptionStatus is one option with the value that the next start takes.
type OptionStatus struct {
	ID          string            `json:"id"`
	Type        string            `json:"type"`
	Label       map[string]string `json:"label"`
	Description map[string]string `json:"description,omitempty"`
	Value       any               `json:"value"`
	Default     any               `json:"default"`
	Choices     []string          `json:"choices,omitempty"`
}

// Kinds of Event.
const (
	EventState = "state" // Status changed
	EventLog   = "log"   // Lines were added
	EventTools = "tools" // Generation rose
	EventGone  = "gone"  // the definition was removed
)

// Event tells that something about one server changed. Events of one kind and
// server that come close together are delivered as one, so an event says what
// is true now and not every step between.
type Event struct {
	Kind, Name string
	Status     Status    // of EventState
	Lines      []LogLine // of EventLog: the newest ones; a gap in Seq means that more can be read with Logs
}

// Pids are the process ids of the servers that run here, without reading the
// definitions anew.
func (v *Supervisor) Pids() []int {
	var out []int
	for _, s := range v.all() {
		s.mu.Lock()
		if s.info.Pid > 0 {
			out = append(out, s.info.Pid)
		}
		s.mu.Unlock()
	}
	return out
}

func (s *service) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusLocked()
}

func (s *service) statusLocked() Status {
	st := Status{
		ID: s.spec.Name, Rev: s.rev, DisplayName: s.spec.DisplayName, Description: s.spec.Description, Help: s.spec.Help,
		Origin: s.spec.Origin, Transport: s.spec.Transport, State: s.state, Reason: s.reason,
		Options: []OptionStatus{}, Pid: s.info.Pid, Protocol: s.info.Protocol,
		Started: stamp(s.started), LastOK: stamp(s.lastOK), NextTry: stamp(s.notBefore),
		Restarts: s.restarts, Autostart: s.autostartLocked(), Error: s.spec.Invalid,
		Notices: append([]string{}, s.notices...), RestartNeeded: s.restartNeededLocked(),
		ServerName: s.shown(s.info.ServerName, 200), ServerVersion: s.shown(s.info.ServerVersion, 100),
	}
	tools, from := s.toolsLocked()
	st.Tools, st.ToolsFrom, st.OnDemand = len(tools), from, s.lazyLocked()
	if s.info.Protocol == "" && s.recalledLocked() {
		st.Protocol, st.ServerName, st.ServerVersion = s.memory.Protocol, s.shown(s.memory.ServerName, 200), s.shown(s.memory.ServerVersion, 100)
	}
	st.LatencyMS, st.HandshakeMS = milliseconds(s.latency), milliseconds(s.handshake)
	st.Breaker, st.URL = s.breaker.status(), s.redact(publicURL(s.spec.URL))
	if st.DisplayName == nil {
		st.DisplayName = map[string]string{"en": s.spec.Name}
	}
	if st.Description == nil {
		st.Description = map[string]string{}
	}
	for _, o := range s.spec.Options {
		v, ok := s.saved.Options[o.ID]
		if !ok || checkValue(o, v) != nil {
			v = o.Default
		}
		st.Options = append(st.Options, OptionStatus{ID: o.ID, Type: o.Type, Label: o.Label, Description: o.Description,
			Value: v, Default: o.Default, Choices: o.Choices})
	}
	st.Command = s.commandLocked()
	return st
}

// commandLocked is what was started, or what a start would run: shown before
// the first start, so that a person sees what a definition found somewhere
// would do.
func (s *service) commandLocked() []string {
	argv := s.info.Command
	if s.spec.remote() {
		return []string{}
	}
	if argv == nil && s.spec.Command != "" {
		e, err := Expand(context.Background(), s.spec, s.saved.Options, s.sup.vars().still())
		if err != nil {
			e = s.spec
		}
		switch {
		case s.program != "" && s.resolvedFor == launchKey(s.spec, s.saved.Options):
			e.Command = s.program
		case strings.ContainsRune(e.Command, '/') && !filepath.IsAbs(e.Command):
			e.Command = filepath.Join(cmp.Or(e.Dir, e.Cwd), e.Command)
		}
		argv = append([]string{e.Command}, e.Args...)
	}
	out := make([]string, 0, len(argv))
	for _, a := range argv {
		out = append(out, s.redact(a))
	}
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// MarshalJSON writes the lists and maps of o as such even when they are empty.
func (o OptionStatus) MarshalJSON() ([]byte, error) {
	type plain OptionStatus
	if o.Label == nil {
		o.Label = map[string]string{}
	}
	return json.Marshal(plain(o))
}
