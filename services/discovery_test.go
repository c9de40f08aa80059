package services

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestCompare(t *testing.T) {
	a := def(t, `{"name":"a","title":"A","description":"one","inputSchema":{"type":"object","properties":{}}}`)
	same := def(t, `{ "inputSchema":{"properties":{},"type":"object"}, "description":"one","title":"A","name":"a","icons":[1]}`)
	changed := def(t, `{"name":"a","description":"two","inputSchema":{"properties":{"x":{}},"type":"object"},"annotations":{"readOnlyHint":true}}`)
	b, c := def(t, `{"name":"b"}`), def(t, `{"name":"c"}`)
	for _, tt := range []struct {
		name     string
		old, now []ToolDef
		want     Discovery
	}{
		{"first", nil, []ToolDef{a, b}, Discovery{Added: []string{"a", "b"}}},
		{"order and keys", []ToolDef{a, b}, []ToolDef{b, same}, Discovery{}},
		{"gone and new", []ToolDef{a, b}, []ToolDef{a, c}, Discovery{Added: []string{"c"}, Removed: []string{"b"}}},
		{"changed", []ToolDef{a}, []ToolDef{changed}, Discovery{Changed: []ToolChange{{"a", []FieldChange{
			{"title", "A", ""}, {"description", "one", "two"},
			{"inputSchema", `{"properties":{},"type":"object"}`, `{"properties":{"x":{}},"type":"object"}`},
			{"annotations", "", `{"readOnlyHint":true}`}}}}}},
		{"a key twice", []ToolDef{def(t, `{"name":"a","annotations":{"x":1,"x":2}}`)}, []ToolDef{def(t, `{"name":"a","annotations":{"x":3,"x":2}}`)},
			Discovery{Changed: []ToolChange{{"a", []FieldChange{{"annotations", `{"x":1,"x":2}`, `{"x":3,"x":2}`}}}}}},
	} {
		got := compare(tt.old, tt.now, func(s string) string { return s })
		for _, list := range []*[]string{&tt.want.Added, &tt.want.Removed} {
			if *list == nil {
				*list = []string{}
			}
		}
		if tt.want.Changed == nil {
			tt.want.Changed = []ToolChange{}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestDiscoveriesAreBounded(t *testing.T) {
	var old, now []ToolDef
	for i := range MaxTools {
		old = append(old, ToolDef{Name: fmt.Sprint("t", i), Description: strings.Repeat("é", 10000), Hash: "1"})
		now = append(now, ToolDef{Name: fmt.Sprint("t", i), Description: strings.Repeat("ü", 10000), Hash: "2"})
	}
	now = append(now, ToolDef{Name: strings.Repeat("n", 1<<20)})
	d := compare(old, now, func(s string) string { return s })
	if d.size() > 2*maxDiscoverySize || len(d.Changed)+len(d.Added)+d.Omitted != MaxTools+1 || d.Omitted == 0 {
		t.Errorf("%d bytes, %d changed, %d added, %d omitted", d.size(), len(d.Changed), len(d.Added), d.Omitted)
	}
	f := d.Changed[0].Fields[0]
	if !utf8.ValidString(f.Old) || len(f.Old) > maxFieldText+40 || !strings.Contains(f.Old, "bytes more") {
		t.Errorf("a field of %d bytes: …%s", len(f.Old), f.Old[len(f.Old)-30:])
	}
	var list []Discovery
	for i := range 60 {
		d.Trigger = fmt.Sprint(i)
		list = remembering(d, list)
	}
	if list[0].Trigger != "59" || len(list) > maxHistorySize/maxDiscoverySize+1 {
		t.Errorf("%d kept, the first %s", len(list), list[0].Trigger)
	}
	list = nil
	for range 60 {
		list = remembering(Discovery{}, list)
	}
	if len(list) != maxDiscoveries {
		t.Errorf("%d kept", len(list))
	}
}

func triggers(list []Discovery) string {
	var out []string
	for _, d := range list {
		out = append(out, fmt.Sprintf("%s+%d-%d~%d", d.Trigger, len(d.Added), len(d.Removed), len(d.Changed)))
	}
	slices.Reverse(out)
	return strings.Join(out, " ")
}

func TestDiscover(t *testing.T) {
	kinds := []Spec{server("lazy"), server("halted"), folderService("folder")}
	bubble(t, Config{Cache: &memoryCache{}}, kinds, func(t *testing.T, r *rig) {
		tools := []ToolDef{{Name: "echo", Hash: "1"}}
		r.fake.offers = func() []ToolDef { return tools }
		_ = r.Stop(t.Context(), "halted")
		discover := func(name string) Discovery {
			t.Helper()
			d, err := r.Discover(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return d
		}
		// Each is left as it was found.
		for name, after := range map[string]State{"lazy": Running, "halted": Stopped, "folder": Stopped} {
			if d := discover(name); len(d.Added) != 1 || d.Trigger != TriggerRequest {
				t.Errorf("%s: %+v", name, d)
			}
			if st := r.state(t, name, after); st.Tools != 1 {
				t.Errorf("%s: %d tools", name, st.Tools)
			}
		}
		if err := r.call(t.Context()); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		if _, err := r.Call(t.Context(), ToolCall{Server: "halted", Tool: "echo"}); !errors.Is(err, ErrNotRunning) {
			t.Errorf("what a person stopped is started by a call after a discovery: %v", err)
		}
		tools = []ToolDef{{Name: "echo", Hash: "2", Description: "new"}, {Name: "more"}}
		for _, name := range []string{"lazy", "halted"} {
			if d := discover(name); len(d.Changed) != 1 || d.Changed[0].Fields[0] != (FieldChange{"description", "", "new"}) || len(d.Added) != 1 {
				t.Errorf("%s: %+v", name, d)
			}
		}
		discover("lazy") // nothing new: recorded all the same
		tools = tools[:1]
		r.fake.peerOf("lazy").hooks.ToolsChanged()
		time.Sleep(time.Second)
		r.fake.peerOf("lazy").hooks.ToolsChanged() // nothing new: not recorded
		time.Sleep(time.Second)
		_ = r.Restart("lazy")
		r.state(t, "lazy", Running) // nothing new either
		tools = nil
		_ = r.Restart("lazy")
		r.state(t, "lazy", Running)
		if got, want := triggers(r.Discoveries("lazy")), "request+1-0~0 request+1-0~1 request+0-0~0 list_changed+0-1~0 start+0-1~0"; got != want {
			t.Errorf("history %s, want %s", got, want)
		}
		if got := r.Discoveries("nobody"); got == nil || len(got) != 0 {
			t.Errorf("nobody: %v", got)
		}
	})
}

func TestDiscoverThatFails(t *testing.T) {
	off, broken := server("off"), server("broken")
	off.Disabled = true
	broken.Invalid = &ManifestError{Message: "no command"}
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error { return crash() }}
	bubble(t, Config{Connector: fake}, []Spec{off, broken, folderService("x")}, func(t *testing.T, r *rig) {
		for name, want := range map[string]error{"off": ErrDisabled, "nobody": ErrUnknown, "x": ErrNotRunning} {
			if _, err := r.Discover(t.Context(), name); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		if _, err := r.Discover(t.Context(), "broken"); err == nil || !strings.Contains(err.Error(), "no command") {
			t.Errorf("broken: %v", err)
		}
		// It is not tried again: nobody wants it to run.
		r.state(t, "x", Stopped)
		n := fake.count()
		time.Sleep(time.Hour)
		synctest.Wait()
		if fake.count() != n {
			t.Errorf("%d starts after it was given up", fake.count()-n)
		}
		if len(r.Discoveries("x")) != 0 {
			t.Errorf("recorded %+v", r.Discoveries("x"))
		}
	})
}

// A start of a person during a discovery is one to stay, a stop ends it.
func TestPersonDuringDiscovery(t *testing.T) {
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error { time.Sleep(time.Second); return nil }}
	bubble(t, Config{Connector: fake}, []Spec{folderService("a"), folderService("b")}, func(t *testing.T, r *rig) {
		done := make(chan error, 2)
		for _, name := range []string{"a", "b"} {
			go func() { _, err := r.Discover(t.Context(), name); done <- err }()
		}
		synctest.Wait()
		_ = r.Start("a")
		if err := r.Stop(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		failed := 0
		for range 2 {
			if err := <-done; err != nil {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d discoveries failed, want 1", failed)
		}
		r.state(t, "a", Running)
		r.state(t, "b", Stopped)
	})
}
