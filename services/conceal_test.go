package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// What a definition holds in headers, environment and query is shown nowhere:
// not in a status, an event, a log line or an error.
func TestSecretsOfADefinitionAreShownNowhere(t *testing.T) {
	planted := []string{"tok-3n-planted", "header-planted", "env-planted", "query-planted", "pass-planted"}
	say := "it failed with " + strings.Join(planted, " and ")
	remote := Spec{Name: "x", Origin: OriginServer, Transport: TransportHTTP,
		URL:     "https://me:pass-planted@example.com:8443/mcp?key=query-planted#f",
		Headers: map[string]string{"Authorization": "Bearer tok-3n-planted", "X-Key": "header-planted"},
		Env:     []string{"KEY=env-planted"}}
	local := server("y")
	local.Env, local.Args = remote.Env, []string{"--key", "env-planted"}
	fake := &fakeConnector{connect: func(n int, _ context.Context, h Hooks) error {
		h.Log("stderr", say)
		h.Notice(say)
		h.Info(Info{ServerName: say, ServerVersion: say})
		if n > 1 {
			return errors.New(say)
		}
		return nil
	}}
	bubble(t, Config{Connector: fake}, []Spec{remote, local}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		st := r.state(t, "x", Running)
		if st.URL != "https://example.com:8443/mcp" || len(st.Command) != 0 {
			t.Errorf("url %q, command %q", st.URL, st.Command)
		}
		p := r.fake.last()
		p.reply(func(context.Context, json.RawMessage) error { return errors.New(say) })
		p.mu.Lock()
		p.ping = errors.New(say)
		p.mu.Unlock()
		s, _ := r.find("x")
		s.probe(t.Context(), p)
		var shown []string
		err := r.call(t.Context())
		shown = append(shown, err.Error())
		_, err = r.Request(t.Context(), "x", "prompts/list", nil)
		shown = append(shown, err.Error())
		p.hooks.Closed(errors.New(say))
		_ = r.Start("y")
		r.state(t, "y", Failed)
		synctest.Wait()
		for _, name := range []string{"x", "y"} {
			st, _ := r.Status(name)
			lines, _ := r.Logs(name, 0)
			b, err := json.Marshal([]any{st, lines})
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, string(b))
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		shown = append(shown, fmt.Sprintf("%+v", r.evts))
		all := strings.Join(shown, "\n")
		if !strings.Contains(all, "it failed with [redacted]") {
			t.Errorf("nothing was said at all: %s", all)
		}
		for _, secret := range planted {
			if secret == "env-planted" {
				continue // of y, looked for below
			}
			if i := strings.Index(strings.Join(shown[:3], "\n"), secret); i >= 0 {
				t.Errorf("%s is shown: …%s", secret, all[max(0, i-80):i+20])
			}
		}
		if strings.Contains(all, "env-planted") {
			t.Errorf("a value of the environment is shown: %s", all)
		}
	})
}

// The user of a URL is often a token, and is sent as base64.
func TestUserOfAURLIsASecret(t *testing.T) {
	for url, texts := range map[string][]string{
		"https://token-planted@h/":             {"token-planted", "dG9rZW4tcGxhbnRlZDo="},
		"https://token-planted:x-oauth@h/":     {"token-planted", "x-oauth", "dG9rZW4tcGxhbnRlZDp4LW9hdXRo"},
		"https://me:pass-planted@h/mcp?k=long": {"pass-planted", "bWU6cGFzcy1wbGFudGVk"},
		"https://me:short@h/":                  {"bWU6c2hvcnQ="}, // each too short by itself
	} {
		c := &concealer{all: func(s string) string { return s }}
		c.learn(Spec{Transport: TransportHTTP, URL: url})
		for _, text := range texts {
			if got := c.redact("Basic " + text + " was refused"); strings.Contains(got, text) {
				t.Errorf("%s: %q is shown", url, got)
			}
		}
	}
}

func TestPublicURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"not a url":                      "",
		"http://[::1]:80/a%2Fb?x=1#y":    "http://[::1]:80/a%2Fb",
		"https://u:p@h/p":                "https://h/p",
		"https://h":                      "https://h",
		"https://h/?token=abcdefgh&b=c":  "https://h/",
		"mailto:someone@example.com?x=y": "",
	} {
		if got := publicURL(in); got != want {
			t.Errorf("publicURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHashesOfADefinition(t *testing.T) {
	base := Spec{Name: "x", Origin: OriginServer, Transport: TransportHTTP, URL: "https://a/", Headers: map[string]string{"A": "1"}}
	for _, tt := range []struct {
		name           string
		change         func(*Spec)
		launch, source bool // whether it is another one then
	}{
		{"url", func(s *Spec) { s.URL = "https://b/" }, true, true},
		{"header", func(s *Spec) { s.Headers = map[string]string{"A": "2"} }, true, false},
		{"authority", func(s *Spec) { s.CACertPath = "/ca.pem" }, true, false},
		{"command", func(s *Spec) { s.Transport, s.Command = TransportStdio, "y" }, true, true},
		{"environment", func(s *Spec) { s.Env = []string{"A=1"} }, true, false},
		{"time", func(s *Spec) { s.CallTimeout = 5 }, false, false},
		{"name", func(s *Spec) { s.DisplayName = map[string]string{"en": "X"} }, false, false},
	} {
		s := base
		tt.change(&s)
		if got := launchHash(s) != launchHash(base); got != tt.launch {
			t.Errorf("%s: another launch: %t, want %t", tt.name, got, tt.launch)
		}
		if got := sourceHash(s) != sourceHash(base); got != tt.source {
			t.Errorf("%s: another source: %t, want %t", tt.name, got, tt.source)
		}
	}
	if s := base; launchKey(s, nil) == launchKey(Spec{Transport: s.Transport, URL: s.URL, Headers: s.Headers, MaxResponseBytes: 5}, nil) {
		t.Error("another limit of answers needs no restart")
	}
	// What a person allowed to start by itself before this version still may.
	folder := Spec{Transport: TransportStdio, Command: "c", Dir: "/d"}
	if got, want := launchHash(folder), hashOf("stdio", "c", []string(nil), []string(nil), "", "/d", []Option(nil)); got != want {
		t.Errorf("launchHash of a service = %s, want %s as ever", got, want)
	}
}

func TestExpandConfiguredServer(t *testing.T) {
	vars := Vars{Root: "/home/me/project", Self: "/bin/z"}
	for _, tt := range []struct {
		name string
		spec Spec
		cwd  string
	}{
		{"no folder", Spec{Origin: OriginServer, Command: "${self}", Args: []string{"${root}"}, Env: []string{"A=${root}"}}, "/home/me/project"},
		{"its own", Spec{Origin: OriginServer, Command: "c", Cwd: "/srv"}, "/srv"},
		{"built in", Spec{Origin: OriginBuiltin, Command: "c"}, "/home/me/project"},
		{"remote", Spec{Origin: OriginServer, Transport: TransportSSE, URL: "https://h/"}, ""},
	} {
		got, err := Expand(t.Context(), tt.spec, nil, vars)
		want := tt.spec
		want.Cwd = tt.cwd
		if err != nil || launchHash(got) != launchHash(want) {
			t.Errorf("%s: Expand = %+v, %v, want %+v", tt.name, got, err, want)
		}
	}
}
