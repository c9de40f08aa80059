package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func def(t testing.TB, raw string) ToolDef {
	t.Helper()
	d, err := NewToolDef(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (p *fakePeer) offer(list ...ToolDef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = list
}

// memoryCache is a Cache that counts its saves.
type memoryCache struct {
	mu    sync.Mutex
	all   map[string]Remembered
	saves int
	fail  error
}

func (c *memoryCache) Load() (map[string]Remembered, error) { return c.all, nil }
func (c *memoryCache) Save(all map[string]Remembered) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saves++
	if c.fail == nil {
		c.all = all
	}
	return c.fail
}

func TestToolsOfAServerThatDoesNotRun(t *testing.T) {
	kept := &memoryCache{}
	x := server("x")
	bubble(t, Config{Cache: kept}, []Spec{x}, func(t *testing.T, r *rig) {
		if st := r.state(t, "x", Stopped); st.ToolsFrom != ToolsNone || st.Tools != 0 || r.Tools("x") != nil {
			t.Errorf("never seen: %+v", st)
		}
		_ = r.Start("x")
		if st := r.state(t, "x", Running); st.ToolsFrom != ToolsLive || st.Tools != 1 {
			t.Errorf("running: %d %s", st.Tools, st.ToolsFrom)
		}
		p := r.fake.last()
		p.hooks.Info(Info{Protocol: "2025-11-25", ServerName: "srv", Instructions: "say please"})
		p.offer(def(t, `{"name":"a","description":"<b>","inputSchema":{"type" : "object","allOf":[{"n":1e400}]}}`), def(t, `{"name":"b"}`))
		p.hooks.ToolsChanged()
		time.Sleep(time.Second)
		if got := r.Instructions("x"); got != "say please" {
			t.Errorf("instructions = %q", got)
		}
		_ = r.Stop(t.Context(), "x")
		if st := r.state(t, "x", Stopped); st.ToolsFrom != ToolsRemembered || st.Tools != 2 || len(r.Tools("x")) != 2 {
			t.Errorf("stopped: %d %s", st.Tools, st.ToolsFrom)
		}
	})
	if kept.saves == 0 || len(kept.all["x"].Tools) != 2 {
		t.Fatalf("%d saves, kept %+v", kept.saves, kept.all)
	}
	path := filepath.Join(t.TempDir(), "state", "catalogue.json")
	if err := (FileCache{path}).Save(kept.all); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	off := x
	off.Disabled = true
	for _, tt := range []struct {
		name string
		spec func() Spec
		want int
	}{
		{"the same", func() Spec { return x }, 2},
		{"a new token", func() Spec { s := x; s.Env = []string{"TOKEN=zzzzzzzz"}; return s }, 2},
		{"another command", func() Spec { s := x; s.Command = "y"; return s }, 0},
		{"another transport", func() Spec { s := x; s.Transport, s.URL = TransportHTTP, "https://h/"; return s }, 0},
		{"switched off", func() Spec { return off }, 0},
	} {
		// The next run of the companion: before anything is started.
		v, err := New(Config{Connector: &fakeConnector{}, Cache: FileCache{path}})
		if err != nil {
			t.Fatal(err)
		}
		v.Set([]Spec{tt.spec()})
		list := v.Tools("x")
		st, _ := v.Status("x")
		if len(list) != tt.want || st.Tools != tt.want {
			t.Errorf("%s: %d tools, status %d, want %d", tt.name, len(list), st.Tools, tt.want)
		}
		if tt.want > 0 {
			if list[0].Hash != def(t, `{"name":"a","description":"<b>","inputSchema":{"allOf":[{"n":1e400}],"type":"object"}}`).Hash {
				t.Errorf("%s: another definition came back: %s", tt.name, list[0].Raw)
			}
			if v.Instructions("x") != "say please" || st.Protocol != "2025-11-25" || st.ServerName != "srv" {
				t.Errorf("%s: %q, %+v", tt.name, v.Instructions("x"), st)
			}
		} else if v.Instructions("x") != "" {
			t.Errorf("%s: instructions of another server", tt.name)
		}
		if len(v.Discoveries("x")) == 0 {
			t.Errorf("%s: the history is gone", tt.name)
		}
	}
}

// Many changes are one write, and none holds a server up.
func TestCacheIsWrittenOffTheHotPath(t *testing.T) {
	kept := &memoryCache{fail: errors.New("no space left")}
	bubble(t, Config{Cache: kept}, []Spec{server("x"), server("y")}, func(t *testing.T, r *rig) {
		r.Want("x", "y")
		r.state(t, "x", Running)
		time.Sleep(2 * time.Second)
		for i := range 50 {
			r.fake.last().offer(ToolDef{Name: fmt.Sprint("t", i)})
			r.fake.last().hooks.ToolsChanged()
			time.Sleep(150 * time.Millisecond)
		}
		kept.mu.Lock()
		if kept.saves < 2 || kept.saves > 12 {
			t.Errorf("%d saves", kept.saves)
		}
		kept.fail = nil
		kept.mu.Unlock()
		lines, _ := r.Logs("x", 0)
		said := 0
		for _, l := range lines {
			if strings.Contains(l.Text, "not kept for the next run: no space left") {
				said++
			}
		}
		if said != 1 {
			t.Errorf("the log says %d times that nothing is kept", said)
		}
		// What was not written yet is written at the end.
		r.fake.last().offer(ToolDef{Name: "last"})
		r.fake.last().hooks.ToolsChanged()
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
	})
	found := false
	for _, e := range kept.all {
		found = found || len(e.Discoveries) > 0 && e.Discoveries[0].Added != nil && strings.Contains(fmt.Sprint(e.Discoveries[0].Added), "last")
	}
	if !found {
		t.Errorf("the last change is not kept: %+v", kept.all)
	}
}

func TestRemovedServerIsForgotten(t *testing.T) {
	kept := &memoryCache{all: map[string]Remembered{"elsewhere": {Source: "s"}}}
	bubble(t, Config{Cache: kept}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		r.Want("x")
		r.state(t, "x", Running)
		r.Set(nil)
		time.Sleep(5 * time.Second)
		kept.mu.Lock()
		defer kept.mu.Unlock()
		if _, still := kept.all["x"]; still || len(kept.all) != 0 {
			t.Errorf("kept %v", kept.all)
		}
		r.Set([]Spec{server("x")})
		if st := r.state(t, "x", Stopped); st.ToolsFrom != ToolsRemembered {
			t.Errorf("back in the same run: %s", st.ToolsFrom)
		}
	})
}

func TestCacheFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	big := func(n int) []json.RawMessage {
		return []json.RawMessage{json.RawMessage(`{"name":"t","description":"` + strings.Repeat("x", n) + `"}`)}
	}
	all := map[string]Remembered{
		"huge":  {Source: "h", Tools: big(5 << 20), Discoveries: []Discovery{{Trigger: TriggerStart}}},
		"small": {Source: "s", Tools: big(10), Seen: time.Unix(1, 0)},
	}
	for i := range 6 {
		all[fmt.Sprint("n", i)] = Remembered{Source: "n", Tools: big(3 << 20), Seen: time.Unix(int64(100+i), 0)}
	}
	if err := (FileCache{path}).Save(all); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() > maxCache {
		t.Errorf("%d bytes, %v", st.Size(), err)
	}
	got, err := FileCache{path}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if h := got["huge"]; !h.TooBig || h.Tools != nil || len(h.Discoveries) != 1 {
		t.Errorf("the huge one: %+v", h)
	}
	if _, old := got["n0"]; old || len(got["n5"].Tools) != 1 {
		t.Errorf("kept %v", sortedKeys(got))
	}
	// What cannot be read is begun anew.
	for _, text := range []string{"", "{", "[]", `{"x":3}`, strings.Repeat(" ", maxCache+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := New(Config{Connector: &fakeConnector{}, Cache: FileCache{path}})
		if err == nil || v == nil {
			t.Errorf("%.10q: no error", text)
			continue
		}
		v.Set([]Spec{server("x")})
		if v.Tools("x") != nil {
			t.Errorf("%.10q: tools", text)
		}
	}
	if got, err := (FileCache{filepath.Join(t.TempDir(), "none")}).Load(); err != nil || len(got) != 0 {
		t.Errorf("no file: %v, %v", got, err)
	}
}

// A list that is too big to keep is not taken for one without tools.
func TestListThatIsTooBigToKeep(t *testing.T) {
	bubble(t, Config{Cache: &memoryCache{}}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		p.offer(def(t, `{"name":"t","description":"`+strings.Repeat("x", maxTools)+`"}`))
		p.hooks.ToolsChanged()
		time.Sleep(time.Second)
		if st := r.state(t, "x", Running); st.Tools != 1 || st.ToolsFrom != ToolsLive {
			t.Errorf("running: %+v", st)
		}
		n := len(r.Discoveries("x"))
		_ = r.Stop(t.Context(), "x")
		if st := r.state(t, "x", Stopped); st.Tools != 0 || st.ToolsFrom != ToolsNone {
			t.Errorf("stopped: %+v", st)
		}
		_ = r.Start("x")
		r.state(t, "x", Running)
		if got := r.Discoveries("x"); len(got) != n {
			t.Errorf("a start found %+v", got[0])
		}
	})
}

// Entries of a file that somebody edited give no tool that a server could not.
func FuzzRemembered(f *testing.F) {
	f.Add(`{"x":{"source":"s","tools":[{"name":"a"},{"name":"a"},7,null,{"name":""}]}}`)
	f.Add(`{"x":{"source":"s","tools":null,"discoveries":[{"changed":[{}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		all := map[string]Remembered{}
		if json.Unmarshal([]byte(text), &all) != nil {
			return
		}
		for _, r := range all {
			m := memory{Remembered: r}
			seen := map[string]bool{}
			for _, d := range m.defs() {
				if d.Name == "" || seen[d.Name] || d.Hash == "" {
					t.Errorf("a tool %+v", d)
				}
				seen[d.Name] = true
			}
		}
		if _, err := encodeCache(all); err != nil {
			t.Errorf("it cannot be written again: %v", err)
		}
	})
}

// What no definition names is not written back for ever, but comes back with
// its definition in the same run.
func TestWhatNoDefinitionNamesIsForgotten(t *testing.T) {
	y := server("y")
	old := Remembered{Source: sourceHash(y), Tools: []json.RawMessage{json.RawMessage(`{"name":"old"}`)}}
	kept := &memoryCache{all: map[string]Remembered{"gone": {Source: "s"}, "y": old}}
	v, err := New(Config{Connector: &fakeConnector{}, Cache: kept})
	if err != nil {
		t.Fatal(err)
	}
	v.Rescan()
	if got := v.remembered(); len(got) != 2 {
		t.Errorf("before Set: %v", got)
	}
	v.Set([]Spec{server("x")})
	if got := v.remembered(); len(got) != 0 {
		t.Errorf("after Set: %v", got)
	}
	v.Set([]Spec{server("x"), y})
	if got := v.remembered(); len(got) != 1 || len(v.Tools("y")) != 1 {
		t.Errorf("it came back: %v", got)
	}
}
