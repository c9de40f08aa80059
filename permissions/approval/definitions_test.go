package approval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// definition is one of n bytes or a little more.
func definition(server string, n int, char string) Accepted {
	text, err := json.Marshal(strings.Repeat(char, n))
	if err != nil {
		panic(err)
	}
	return Accepted{Server: server, Hash: "h", Text: text}
}

// A server that invents tools for ever makes only its own count as changed.
func TestServersHaveBoundsOfTheirOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "definitions.json")
	d, err := OpenDefinitions(path)
	if err != nil {
		t.Fatal(err)
	}
	flood := map[string]Accepted{}
	for i := range 40 {
		flood[fmt.Sprintf("bad__t%d", i)] = definition("bad", 1<<20, "x")
	}
	if err := observe(d, flood); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		if n := len(d.accepted); n < 15 || n > 17 {
			t.Errorf("%d definitions of 1 MiB are pinned", n)
		}
		if s, _ := d.Check("bad", "bad__new", "h"); s != DefinitionChanged || d.Wants("bad", "bad__new") {
			t.Errorf("another tool of that server is %q", s)
		}
		if s, _ := d.Check("good", "good__new", "h"); s != DefinitionNew || !d.Wants("good", "good__new") {
			t.Errorf("a tool of another server is %q", s)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			// The bound holds across a start.
			if d, err = OpenDefinitions(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := observe(d, map[string]Accepted{"good__new": definition("good", 10, "x")}); err != nil {
		t.Fatal(err)
	}
	if s, _ := d.Check("good", "good__new", "h"); s != DefinitionAccepted || d.Wants("good", "good__new") {
		t.Errorf("a tool of another server is %q once it was seen", s)
	}
}

// The bounds are those of the file: it can be read again.
func TestSizesAreThoseOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "definitions.json")
	d, err := OpenDefinitions(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]Accepted{}
	for i := range 1000 {
		seen[fmt.Sprintf("s__t%d", i)] = Accepted{Server: "s", Hash: "h", Text: json.RawMessage(`"<>&` + "\u2028\u2029" + `ü"`)}
	}
	if err := observe(d, seen); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if int64(d.size) < info.Size() || int64(d.size) > 2*info.Size() {
		t.Errorf("a file of %d bytes counts as %d", info.Size(), d.size)
	}
}

// A file of an earlier version does not say whose tools they are.
func TestServersOfAnEarlierFileAreLearnt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "definitions.json")
	if err := os.WriteFile(path, []byte(`{"s__t":{"hash":"1","text":{"name":"t"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDefinitions(path)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Wants("s", "s__t") {
		t.Error("nobody is told that the server is missing")
	}
	if err := observe(d, map[string]Accepted{"s__t": {Server: "s", Hash: "2", Text: json.RawMessage(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	if d, err = OpenDefinitions(path); err != nil {
		t.Fatal(err)
	}
	state, old := d.Check("s", "s__t", "2")
	if state != DefinitionChanged || old.Hash != "1" || old.Server != "s" || string(old.Text) != `{"name":"t"}` {
		t.Errorf("it is %q against %+v", state, old)
	}
	if d.sizes[""] != 0 || d.sizes["s"] == 0 || d.Wants("s", "s__t") {
		t.Errorf("the sizes are %v", d.sizes)
	}
}

// A server that changes its list all the time has the file written now and then;
// what it told counts at once.
func TestStormIsSavedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "definitions.json")
		d, err := OpenDefinitions(path)
		if err != nil {
			t.Fatal(err)
		}
		var before os.FileInfo
		writes := 0
		const steps = 600
		for i := range steps {
			tool := fmt.Sprintf("s__t%d", i)
			if err := observe(d, map[string]Accepted{tool: {Server: "s", Hash: "1"}}); err != nil {
				t.Fatal(err)
			}
			if s, _ := d.Check("s", tool, "2"); s != DefinitionChanged {
				t.Fatalf("a change of what was just seen is %q", s)
			}
			now, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if before == nil || !os.SameFile(before, now) {
				writes++
			}
			before = now
			time.Sleep(100 * time.Millisecond)
		}
		if most := int(steps*100*time.Millisecond/saveEvery) + 2; writes < 2 || writes > most {
			t.Errorf("it was written %d times, want at most %d", writes, most)
		}
		count := func() int {
			again, err := OpenDefinitions(path)
			if err != nil {
				t.Fatal(err)
			}
			return len(again.accepted)
		}
		time.Sleep(saveEvery)
		if n := count(); n != steps {
			t.Errorf("%d are saved after the storm, want %d", n, steps)
		}
		_ = observe(d, map[string]Accepted{"s__a": {Server: "s", Hash: "1"}})
		_ = observe(d, map[string]Accepted{"s__b": {Server: "s", Hash: "1"}})
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != steps+2 {
			t.Errorf("%d are saved at the end, want %d", n, steps+2)
		}
	})
}

// What cannot be saved later is told of, pinned all the same, and tried again.
func TestLateSaveThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDefinitions(filepath.Join(dir, "definitions.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := observe(d, map[string]Accepted{"s__a": {Server: "s", Hash: "1"}}); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := observe(d, map[string]Accepted{"s__b": {Server: "s", Hash: "1"}}); err != nil {
			t.Errorf("nothing was tried yet, but %v", err)
		}
		time.Sleep(saveEvery + time.Second)
		if err := d.SaveSoon(); err == nil {
			t.Error("SaveSoon hides that nothing was saved")
		}
		if s, _ := d.Check("s", "s__b", "2"); s != DefinitionChanged {
			t.Errorf("a change of what could not be saved is %q", s)
		}
		if err := d.Close(); err == nil {
			t.Error("Close hides that nothing was saved")
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		if err := d.SaveSoon(); err != nil {
			t.Error(err)
		}
		again, err := OpenDefinitions(d.path)
		if err != nil || len(again.accepted) != 2 {
			t.Errorf("%d are saved, %v", len(again.accepted), err)
		}
	})
}

// observe is what happens to the list of a server's tools.
func observe(d *Definitions, seen map[string]Accepted) error {
	d.Pin(seen)
	return d.SaveSoon()
}
