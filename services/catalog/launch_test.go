package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

func TestPlaywrightForReal(t *testing.T) {
	long(t)
	path := realPath(t, "node", "npm", "chromium")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Loopback</title><h1>Hello from the test</h1>")
	}))
	defer page.Close()
	// The browser's profile is there, which tells it from anybody else's.
	temp := t.TempDir()
	environ, profile := append(os.Environ(), "TMPDIR="+temp), filepath.Join(temp, "playwright")
	state, root := t.TempDir(), t.TempDir()
	c := newCompanion(t, state, root, environ, path)
	c.ready(t, "playwright")
	if got := c.call(t, "playwright", "browser_navigate", map[string]any{"url": page.URL}); !strings.Contains(got, "Loopback") {
		t.Errorf("browser_navigate = %.2000s", got)
	}
	if got := c.call(t, "playwright", "browser_snapshot", struct{}{}); !strings.Contains(got, "Hello from the test") {
		t.Errorf("browser_snapshot = %.2000s", got)
	}
	if got := c.call(t, "playwright", "browser_take_screenshot", struct{}{}); !strings.Contains(got, `"type":"image"`) {
		t.Errorf("browser_take_screenshot = %.2000s", got)
	}
	if files, err := os.ReadDir(root); err != nil || len(files) > 0 {
		t.Errorf("what the browser made is in the user's folder: %v, %v", files, err)
	}
	if files, err := os.ReadDir(filepath.Join(state, "services", "playwright", "output")); err != nil || len(files) == 0 {
		t.Errorf("nothing of it is in the service's folder: %v", err)
	}
	if len(running(t, profile)) == 0 {
		t.Error("no browser seems to run")
	}
	c.ended(t, "playwright")
	if left := running(t, profile); len(left) != 0 {
		t.Errorf("the browser is still there: %v", left)
	}

	second := newCompanion(t, state, t.TempDir(), offline(environ), path)
	second.begin(t, "playwright")
	second.ended(t, "playwright")
}

func TestLSPForReal(t *testing.T) {
	long(t)
	path := realPath(t, "node", "npm")
	project := t.TempDir()
	for name, text := range map[string]string{
		"tsconfig.json": `{"compilerOptions":{"strict":true}}`,
		"greet.ts":      "export function greet(name: string): string {\n  return `hello ${name}`;\n}\n",
		"main.ts":       "import { greet } from \"./greet\";\n\nconsole.log(greet(\"Ada\"));\n",
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := t.TempDir()
	c := newCompanion(t, state, project, os.Environ(), path)
	c.ready(t, "lsp")
	find := func(c *companion) {
		t.Helper()
		var got string
		for range 10 { // the language server may still be reading the project
			got = c.call(t, "lsp", "find_definition", map[string]any{"file_path": "greet.ts", "symbol_name": "greet"})
			got += c.call(t, "lsp", "find_references", map[string]any{"file_path": "greet.ts", "symbol_name": "greet"})
			if strings.Contains(got, filepath.Join(project, "greet.ts")+":1:17") && strings.Contains(got, filepath.Join(project, "main.ts")+":3:13") {
				return
			}
			time.Sleep(2 * time.Second)
		}
		t.Errorf("found %.2000s", got)
	}
	find(c)
	if len(running(t, filepath.Join(state, "services", "lsp"))) < 2 {
		t.Error("no language server seems to run")
	}
	c.ended(t, "lsp")

	second := newCompanion(t, state, project, offline(os.Environ()), path)
	second.begin(t, "lsp")
	find(second)
	second.ended(t, "lsp")
}

// launch runs the launcher of a bundled service, with stand-ins by path for what
// npm would install, and returns what it printed.
func launch(t *testing.T, id string, standIns map[string]string, env []string, args ...string) (out string, err error) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("node is needed: %v", err)
	}
	folder := t.TempDir()
	if err := writeBundled(folder); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(folder, id)
	for name, script := range standIns {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(dir, "launch.mjs")}, args...)...)
	cmd.Env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// Where it is not told otherwise, the browser's server fills a folder in the
// user's root, without bound.
func TestPlaywrightKeepsItsFilesInItsFolder(t *testing.T) {
	dir := t.TempDir()
	if err := writeBundled(dir); err != nil {
		t.Fatal(err)
	}
	node := func(context.Context) (string, error) { return "/bin/node", nil }
	for _, s := range (&services.Folder{Path: dir}).Scan() {
		if s.Name != "playwright" {
			continue
		}
		e, err := services.Expand(t.Context(), s, nil, services.Vars{Self: "/bin/zc", Root: "/r", Node: node})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"--output-dir": filepath.Join(dir, "playwright", "output"), "--output-max-size": "268435456"} {
			if at := slices.Index(e.Args, name) + 1; at == 0 || at == len(e.Args) || filepath.Clean(e.Args[at]) != want {
				t.Errorf("%s is not %s: %q", name, want, e.Args)
			}
		}
		return
	}
	t.Error("it is not there")
}

func TestPlaywrightLauncher(t *testing.T) {
	browsers := programs(t, map[string]string{"google-chrome": "exit 0", "microsoft-edge": "exit 0"})
	cli := map[string]string{"node_modules/@playwright/mcp/cli.js": `console.log("ARGS " + process.argv.slice(2).join(" "))`}
	chrome := filepath.Join(browsers, "google-chrome")
	sandbox := ""
	if os.Getuid() == 0 {
		sandbox = " --no-sandbox"
	}
	for _, tt := range []struct {
		name      string
		standIns  map[string]string
		env, args []string
		want      []string
		fails     bool
	}{
		{"finds one", cli, []string{"PATH=" + browsers}, []string{"--headless", "--isolated"}, []string{"ARGS --headless --isolated --executable-path " + chrome + sandbox + "\n"}, false},
		{"a given one", cli, []string{"PATH=/nowhere"}, []string{"--headless", "--executable-path", chrome}, []string{"ARGS --headless --executable-path " + chrome + sandbox + "\n"}, false},
		{"given and gone", cli, []string{"PATH=" + browsers}, []string{"--executable-path", "/gone/chrome"}, []string{"/gone/chrome, which is no program", "option Browser"}, true},
		{"a display", cli, []string{"PATH=" + browsers, "DISPLAY=:0"}, []string{"--isolated"}, []string{"ARGS --isolated --executable-path " + chrome + sandbox + "\n"}, false},
		{"no display", cli, []string{"PATH=" + browsers}, []string{"--isolated"}, []string{"no display", "--headless\n"}, false},
		{"not installed", nil, []string{"PATH=" + browsers}, []string{"--headless"}, []string{"install the service again"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := launch(t, "playwright", tt.standIns, tt.env, tt.args...)
			if (err != nil) != tt.fails {
				t.Errorf("err = %v", err)
			}
			for _, w := range tt.want {
				if !strings.Contains(out, w) {
					t.Errorf("it printed %q, want %q in it", out, w)
				}
			}
		})
	}
}

func TestLSPLauncher(t *testing.T) {
	bin := programs(t, map[string]string{"gopls": "exit 0", "rust-analyzer": "echo no toolchain; exit 1", "pyright-langserver": "exit 1", "clangd": "exit 0"})
	standIns := map[string]string{"node_modules/cclsp/dist/index.js": `const { readFileSync } = require("node:fs");
console.log("CONFIG " + readFileSync(process.env.CCLSP_CONFIG_PATH, "utf8").replaceAll("\n", " "));
process.exit(0);`}
	root := t.TempDir()
	env := []string{"PATH=" + bin, "HOME=" + root}
	out, err := launch(t, "lsp", standIns, env, root)
	if err == nil || !strings.Contains(out, "typescript-language-server is not in this service's folder") {
		t.Errorf("without its packages: %s, %v", out, err)
	}
	standIns["node_modules/typescript-language-server/lib/cli.mjs"], standIns["node_modules/typescript/lib/tsserver.js"] = "", ""
	if out, err = launch(t, "lsp", standIns, env, root); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, text, _ := strings.Cut(out, "CONFIG ")
	var c struct {
		Servers []struct {
			Extensions, Command []string
			RootDir             string
		}
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	have := map[string]string{}
	for _, s := range c.Servers {
		if s.RootDir != root {
			t.Errorf("rootDir = %s", s.RootDir)
		}
		have[s.Extensions[0]] = strings.Join(s.Command, " ")
	}
	if !strings.HasSuffix(have["ts"], "cli.mjs --stdio") || have["go"] != filepath.Join(bin, "gopls") || have["py"] != filepath.Join(bin, "pyright-langserver")+" --stdio" ||
		have["c"] != filepath.Join(bin, "clangd") || len(have) != 4 {
		t.Errorf("servers = %v", have)
	}
	if !strings.Contains(out, "rust-analyzer is there but does not run") {
		t.Errorf("it printed %s", out)
	}

	own := filepath.Join(root, "own.json")
	if err := os.WriteFile(own, []byte(`{"servers":["mine"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = launch(t, "lsp", standIns, append(env, "CCLSP_CONFIG_PATH="+own), root); err != nil || !strings.Contains(out, "mine") {
		t.Errorf("with an own configuration: %s, %v", out, err)
	}
}
