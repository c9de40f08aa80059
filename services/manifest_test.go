package services

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func writeService(t *testing.T, root, folder string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(root, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goodManifest = `{
  "schemaVersion": 1,
  "id": "demo",
  "displayName": {"en": "Demo", "es": "Demostración"},
  "description": "A plain text is English",
  "help": {"url": "https://example.org/help"},
  "launch": {
    "executable": "${node}",
    "args": ["${serviceDir}/run.js", "--root=${root}", "${HOME}", "${option:", "$${self}", "${option:level}"],
    "env": {"B": "${option:name}", "A": "1"},
    "handshakeTimeoutSeconds": 7.5
  },
  "options": [
    {"id": "headless", "type": "boolean", "label": {"en": "Headless"}, "default": true, "argsWhenTrue": ["--headless"], "argsWhenFalse": ["--show"]},
    {"id": "level", "type": "enum", "choices": ["low", "high"], "default": "low"},
    {"id": "name", "type": "string", "args": ["--name", "${option:name}"], "env": {"NAME": "${option:name}"}},
    {"id": "file", "type": "path"}
  ],
  "enabledByDefault": false,
  "autostart": true
}`

func TestLoadService(t *testing.T) {
	dir := writeService(t, t.TempDir(), "demo", map[string]string{ManifestName: "\ufeff" + goodManifest,
		InstallerName: `{"schemaVersion":1,"type":"npm","product":{"package":"@x/y","version":"1.2.3"},"requirements":{"node":{"minimumMajor":20}}}`})
	s := LoadService(dir)
	if s.Invalid != nil {
		t.Fatal(s.Invalid)
	}
	if s.Name != "demo" || s.DisplayName["es"] != "Demostración" || s.Description["en"] != "A plain text is English" || s.Help != "https://example.org/help" ||
		s.HandshakeTimeout.Seconds() != 7.5 || !s.Autostart || s.Installer.Packages["@x/y"] != "1.2.3" || s.Installer.NodeMajor != 20 {
		t.Errorf("spec = %+v", s)
	}
	vars := Vars{Root: "/r", Self: "/bin/zc", Node: func(context.Context) (string, error) { return "/bin/node", nil }}
	e, err := Expand(t.Context(), s, map[string]any{"name": "${root} $(id)", "headless": false, "level": "nonsense"}, vars)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dir + "/run.js", "--root=/r", "${HOME}", "${option:", "$/bin/zc", "low", "--show", "--name", "${root} $(id)"}
	if e.Command != "/bin/node" || !slices.Equal(e.Args, want) {
		t.Errorf("argv = %q %q, want %q", e.Command, e.Args, want)
	}
	if want := []string{"A=1", "B=${root} $(id)", "NAME=${root} $(id)"}; !slices.Equal(e.Env, want) {
		t.Errorf("env = %q, want %q", e.Env, want)
	}
	if e.Cwd != dir {
		t.Errorf("cwd = %q", e.Cwd)
	}
	e, err = Expand(t.Context(), s, nil, vars)
	if err != nil || !slices.Contains(e.Args, "--headless") || slices.Contains(e.Args, "--name") {
		t.Errorf("defaults: %q, %v", e.Args, err)
	}
	if _, err := Expand(t.Context(), s, nil, Vars{}); err == nil || !strings.Contains(err.Error(), "${node}") {
		t.Errorf("without node: %v", err)
	}
	server := Spec{Origin: OriginServer, Command: "${self}", Args: []string{"${root}"}}
	if e, err := Expand(t.Context(), server, nil, vars); err != nil || e.Command != "${self}" || e.Args[0] != "${root}" {
		t.Errorf("a configured server was expanded: %+v, %v", e, err)
	}
}

func TestMalformedServices(t *testing.T) {
	manifest := func(launch string) string {
		return "{\n\"schemaVersion\": 1,\n\"id\": \"x\",\n\"launch\": " + launch + "\n}"
	}
	for _, tt := range []struct {
		name, text string
		line       int
		part       string
	}{
		{"empty", "", 1, "not valid JSON"},
		{"syntax", "{\n\"schemaVersion\": 1,\n  oops\n}", 3, "not valid JSON"},
		{"array", "[]", 1, "array"},
		{"version", "{\n\n\"schemaVersion\": 2}", 3, "schemaVersion is 2"},
		{"no version", "{}", 1, "schemaVersion is 0"},
		{"id", "{\"schemaVersion\":1,\n\"id\":\"../evil\"}", 2, "cannot be used"},
		{"double underscore", "{\"schemaVersion\":1,\n\"id\":\"a__b\"}", 2, "cannot be used"},
		{"no executable", manifest("{\n\"args\": []}"), 4, "launch.executable is missing"},
		{"args", manifest("{\"executable\":\"x\",\n\"args\": \"no\"}"), 5, "launch.args"},
		{"args of numbers", manifest("{\"executable\":\"x\",\n\n\"args\": [1]}"), 6, "launch.args"},
		{"unknown option", manifest(`{"executable":"x","args":["${option:none}"]}`), 4, "names no option"},
		{"option type", "{\"schemaVersion\":1,\"launch\":{\"executable\":\"x\"},\n\"options\":[{\"id\":\"a\",\"type\":\"boolean\"},\n{\"id\":\"b\",\n\"type\":\"colour\"}]}", 4, "colour"},
		{"option default", "{\"schemaVersion\":1,\"launch\":{\"executable\":\"x\"},\n\"options\":[{\"id\":\"a\",\"type\":\"boolean\",\n\"default\":\"yes\"}]}", 3, "true or false"},
		{"member twice", "{\"schemaVersion\":1,\"launch\":{\"executable\":\"a\"},\n\"launch\":{\"executable\":\"b\"}}", 2, "\"launch\" is there twice"},
		{"member in two cases", "{\"schemaVersion\":1,\"launch\":{\"executable\":\"a\",\n\"Executable\":\"b\"}}", 2, "\"Executable\" is there twice"},
		{"member of an element twice", "{\"schemaVersion\":1,\"launch\":{\"executable\":\"a\"},\"options\":[{\"id\":\"a\",\"type\":\"string\",\n\"id\":\"b\"}]}", 2, "\"id\" is there twice"},
		{"option twice", "{\"schemaVersion\":1,\"launch\":{\"executable\":\"x\"},\n\"options\":[{\"id\":\"a\",\"type\":\"boolean\"},\n{\"id\":\"a\",\"type\":\"boolean\"}]}", 3, "twice"},
		{"timeout", manifest("{\"executable\":\"x\",\n\"handshakeTimeoutSeconds\":-1}"), 5, "handshakeTimeoutSeconds"},
		{"env", manifest("{\"executable\":\"x\",\n\"env\":{\"A=B\":\"1\"}}"), 5, "environment variable"},
		{"nul", manifest("{\"executable\":\"x\\u0000y\"}"), 4, "NUL"},
		{"deep", strings.Repeat("[", 20000), 1, "not valid JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeService(t, t.TempDir(), "x", map[string]string{ManifestName: tt.text})
			s := LoadService(dir)
			if s.Invalid == nil {
				t.Fatal("it was accepted")
			}
			if s.Invalid.Line != tt.line || !strings.Contains(s.Invalid.Message, tt.part) || s.Invalid.File != filepath.Join(dir, ManifestName) {
				t.Errorf("error = %v (line %d), want line %d and %q", s.Invalid, s.Invalid.Line, tt.line, tt.part)
			}
		})
	}
	for text, part := range map[string]string{
		`{"type":"npm","packages":{"a":"^1.0.0"}}`: "not exact",
		`{"type":"npm","packages":{"a":"latest"}}`: "not exact",
		`{"type":"npm"}`:   "no package",
		`{"type":"cargo"}`: "cargo",
		`{`:                "not valid JSON",
	} {
		s := LoadService(writeService(t, t.TempDir(), "demo", map[string]string{ManifestName: goodManifest, InstallerName: text}))
		if s.Invalid == nil || !strings.Contains(s.Invalid.Message, part) {
			t.Errorf("installer %s: %v, want %q", text, s.Invalid, part)
		}
	}
}

func TestFolder(t *testing.T) {
	root := t.TempDir()
	f := &Folder{Path: root}
	if got := f.Scan(); len(got) != 0 {
		t.Errorf("an empty folder: %v", got)
	}
	writeService(t, root, "demo", map[string]string{ManifestName: goodManifest})
	writeService(t, root, "broken", map[string]string{ManifestName: "{"})
	writeService(t, root, "nothing", nil)
	writeService(t, root, ".hidden", map[string]string{ManifestName: "{"})
	writeService(t, root, "zcopy", map[string]string{ManifestName: goodManifest})
	if err := os.WriteFile(filepath.Join(root, "a-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range f.Scan() {
		state := "ok"
		if s.Invalid != nil {
			state = "bad"
		}
		got = append(got, s.Name+" "+state)
	}
	if want := []string{"broken bad", "demo ok", "nothing bad", "demo (zcopy) bad"}; !slices.Equal(got, want) {
		t.Errorf("Scan = %q, want %q", got, want)
	}
	// Neither one that sorts before it nor a malformed one takes a name away.
	other := t.TempDir()
	f = &Folder{Path: other}
	writeService(t, other, "aaa", map[string]string{ManifestName: goodManifest})
	writeService(t, other, "aab", map[string]string{ManifestName: `{"schemaVersion":1,"id":"demo"}`})
	writeService(t, other, "demo", map[string]string{ManifestName: goodManifest})
	writeService(t, other, "far", map[string]string{ManifestName: strings.Replace(goodManifest, `"demo"`, `"near"`, 1)})
	writeService(t, other, "near", map[string]string{ManifestName: "{"})
	got = nil
	for _, s := range f.Scan() {
		got = append(got, fmt.Sprint(s.Name, " ", s.Invalid == nil))
	}
	if want := []string{"demo (aaa) false", "demo (aab) false", "demo true", "near true", "near (near) false"}; !slices.Equal(got, want) {
		t.Errorf("Scan = %q, want %q", got, want)
	}
	// An edit is seen.
	f = &Folder{Path: root}
	f.Scan()
	writeService(t, root, "broken", map[string]string{ManifestName: strings.Replace(goodManifest, `"demo"`, `"broken"`, 1)})
	if s := f.Scan()[0]; s.Invalid != nil {
		t.Errorf("after the repair: %v", s.Invalid)
	}
}

func TestManifestsThatAreNoFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	for _, target := range []string{"/dev/zero", "/dev/tty", "/nowhere", "/"} {
		dir := writeService(t, t.TempDir(), "x", nil)
		if err := os.Symlink(target, filepath.Join(dir, ManifestName)); err != nil {
			t.Fatal(err)
		}
		if s := LoadService(dir); s.Invalid == nil {
			t.Errorf("%s was read as a manifest", target)
		}
	}
}

// A folder that appears by itself is listed, says what it would run, and runs
// nothing before a person starts it.
func TestNewFolderRunsNothingByItself(t *testing.T) {
	root := t.TempDir()
	f := &Folder{Path: root}
	store := FileStore{Path: filepath.Join(t.TempDir(), "state", "service-options.json")}
	fake := &fakeConnector{}
	vars := func() Vars {
		return Vars{Root: "/r", Self: "/bin/zc", Node: func(context.Context) (string, error) { return "/bin/node", nil }}
	}
	bubble(t, Config{Connector: fake, Scan: f.Scan, Store: store, Vars: vars}, nil, func(t *testing.T, r *rig) {
		writeService(t, root, "demo", map[string]string{ManifestName: goodManifest})
		list := r.List()
		if len(list) != 1 || list[0].State != Stopped || list[0].Autostart || list[0].Command[0] != "node" || list[0].Command[2] != "--root=/r" {
			t.Fatalf("list = %+v", list)
		}
		if err := r.SetOptions("demo", map[string]any{"level": "high", "name": "n"}, nil); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []map[string]any{{"level": "middle"}, {"headless": "true"}, {"name": 1.0}, {"file": "relative"}, {"invented": true}} {
			var oe *OptionError
			if err := r.SetOptions("demo", bad, nil); err == nil || !asOption(err, &oe) {
				t.Errorf("SetOptions(%v) = %v", bad, err)
			}
		}
		_ = r.Start("demo")
		r.state(t, "demo", Running)
		if got := fake.seen[0].Args; !slices.Contains(got, "high") {
			t.Errorf("args = %q", got)
		}
		if err := r.SetOptions("demo", map[string]any{"level": nil}, nil); err != nil {
			t.Fatal(err)
		}
		if st := r.state(t, "demo", Running); !st.RestartNeeded {
			t.Errorf("no restart is asked for: %+v", st)
		}
	})
	// At the next start of the companion it is the launch that was started.
	bubble(t, Config{Scan: f.Scan, Store: store, Vars: vars}, nil, func(t *testing.T, r *rig) {
		if st := r.state(t, "demo", Running); !st.Autostart || st.Protocol != "2025-11-25" {
			t.Errorf("status = %+v", st)
		}
		if got := r.fake.seen[0]; got.Protocol != "2025-11-25" || !slices.Contains(got.Args, "low") {
			t.Errorf("spec = %+v", got)
		}
	})
	// Another launch of the same id is not.
	writeService(t, root, "demo", map[string]string{ManifestName: strings.Replace(goodManifest, "run.js", "evil.js", 1)})
	bubble(t, Config{Scan: f.Scan, Store: store, Vars: vars}, nil, func(t *testing.T, r *rig) {
		r.state(t, "demo", Stopped)
		on := true
		if err := r.SetOptions("demo", nil, &on); err != nil {
			t.Fatal(err)
		}
		if st := r.state(t, "demo", Stopped); !st.Autostart {
			t.Errorf("status = %+v", st)
		}
	})
	bubble(t, Config{Scan: f.Scan, Store: store, Vars: vars}, nil, func(t *testing.T, r *rig) { r.state(t, "demo", Running) })
}

func asOption(err error, into **OptionError) bool {
	e, ok := err.(*OptionError)
	*into = e
	return ok
}

func TestBrokenStoreSavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service-options.json")
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := New(Config{Connector: &fakeConnector{}, Store: FileStore{Path: path}})
	if err == nil || v == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("New = %v, %v", v, err)
	}
	v.Set([]Spec{{Name: "x", Options: []Option{{ID: "a", Type: OptionString}}}})
	if err := v.SetOptions("x", map[string]any{"a": "1"}, nil); err == nil {
		t.Error("the settings were taken although they cannot be saved")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "{broken" {
		t.Errorf("the file is %q, %v", b, err)
	}
}

func FuzzLoadManifest(f *testing.F) {
	f.Add([]byte(goodManifest))
	f.Add([]byte(`{"schemaVersion":1,"options":[{"id":"a","type":"enum","default":null}]}`))
	f.Add([]byte("{\"launch\":{\"args\":[\n1]}}"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, ManifestName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := LoadService(dir)
		if s.Invalid != nil {
			if s.Invalid.Message == "" || s.Invalid.Line < 0 || s.Invalid.Line > 1+strings.Count(string(data), "\n") {
				t.Errorf("error = %+v", s.Invalid)
			}
			return
		}
		if _, err := Expand(t.Context(), s, nil, Vars{}.blank()); err != nil {
			t.Errorf("accepted, but it does not expand: %v", err)
		}
	})
}
