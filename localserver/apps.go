package localserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"runtime"
	"strings"

	"zeroclaw/localserver/guard"
	"zeroclaw/permissions"
	"zeroclaw/tools/jsonparts"
)

// App is another program that can use the companion's tools over MCP, and how
// it is told to.
type App struct {
	ID   string `json:"id"`   // as zeroclaw mcp install takes it
	Name string `json:"name"` // as people know it
	// Path is the file of its configuration, "" where the system does not say
	// where that would be.
	Path string `json:"path"`
	// Section is the member of that file that holds MCP servers by name; ours
	// is AppEntry.
	Section string `json:"section"`
	// Entry is our server as a JSON object, over several lines: the program that
	// the app starts.
	Entry json.RawMessage `json:"-"`
	// Snippet is the whole file, if there is nothing else in it.
	Snippet string `json:"snippet"`
	// HTTP is the same for an address with a token in place of a program, "" for
	// an app that takes none. TokenPlace stands where the token belongs, which
	// also says which agent it is.
	HTTP string `json:"http"`
	// Install is the command that enters Entry into Path.
	Install string `json:"install"`
}

// AppEntry is the name of our server in the configuration of other programs.
const AppEntry = "zeroclaw"

// configDir is the variable with the companion's folder, where that is another
// than usual.
const configDir = "ZEROCLAW_CONFIG_DIR"

// TokenPlace stands for a token in App.HTTP.
const TokenPlace = "YOUR_TOKEN"

// AppHost is what the configuration of other programs depends on.
type AppHost struct {
	OS      string // as GOOS has it
	Home    string
	Getenv  func(string) string
	Command string // absolute path of this program
	Agent   string // whose tools the app gets; "" is the built-in assistant
	URL     string // of /mcp; "" leaves App.HTTP empty
}

// Apps lists the programs that can be told to use the companion, in the order
// in which they are offered.
func Apps(h AppHost) []App {
	agent := h.Agent
	if agent == "" {
		agent = permissions.BuiltinAgent
	}
	program := []field{{"command", h.Command}, {"args", []string{"mcp", "--agent", agent}}}
	own := h.Getenv(configDir)
	if own != "" { // the app has another environment
		program = append(program, field{"env", []field{{configDir, own}}})
	}
	address := []field{{"url", h.URL}, {"headers", []field{{"Authorization", "Bearer " + TokenPlace}}}}
	typed := func(kind string, fields []field) []field { return append([]field{{"type", kind}}, fields...) }
	install := func(id string) string {
		words := []string{shellWord(h.OS, h.Command), "mcp", "install", id}
		if agent != permissions.BuiltinAgent {
			words = append(words, "--agent", shellWord(h.OS, agent))
		}
		line := strings.Join(words, " ")
		if h.OS == "windows" && strings.HasPrefix(line, "'") {
			line = "& " + line // what PowerShell begins a quoted program with
		}
		switch {
		case own == "":
		case h.OS == "windows":
			line = "$env:" + configDir + " = '" + strings.ReplaceAll(own, "'", "''") + "'; " + line
		default:
			line = configDir + "=" + shellWord(h.OS, own) + " " + line
		}
		return line
	}
	app := func(id, name, file, section string, entry, http []field) App {
		a := App{ID: id, Name: name, Path: file, Section: section, Entry: json.RawMessage(jsonObject(entry, "")), Install: install(id)}
		a.Snippet = jsonObject([]field{{section, []field{{AppEntry, entry}}}}, "") + "\n"
		if http != nil && h.URL != "" {
			a.HTTP = jsonObject([]field{{section, []field{{AppEntry, http}}}}, "") + "\n"
		}
		return a
	}
	return []App{
		app("claude-desktop", "Claude Desktop", h.inConfig("Claude", "claude_desktop_config.json"), "mcpServers", program, nil),
		app("claude-code", "Claude Code", h.claudeCode(), "mcpServers", typed("stdio", program), typed("http", address)),
		app("vscode", "VS Code", h.inConfig("Code", "User", "mcp.json"), "servers", typed("stdio", program), typed("http", address)),
		app("cursor", "Cursor", h.inHome(".cursor", "mcp.json"), "mcpServers", program, address),
	}
}

// join joins parts of a path as the system of h writes it, which need not be
// the one that this program runs on.
func (h AppHost) join(base string, parts ...string) string {
	if base == "" {
		return ""
	}
	if h.OS == "windows" {
		return strings.TrimRight(base, `\/`) + `\` + strings.Join(parts, `\`)
	}
	return path.Join(append([]string{base}, parts...)...)
}

func (h AppHost) inHome(parts ...string) string { return h.join(h.Home, parts...) }

// absolute reports whether a path of the system of h begins at the top: a
// relative one in a variable means nothing.
func (h AppHost) absolute(p string) bool {
	if h.OS == "windows" {
		return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
	}
	return strings.HasPrefix(p, "/")
}

// inConfig is a path in the folder where programs keep what the user sets.
func (h AppHost) inConfig(parts ...string) string {
	switch h.OS {
	case "windows":
		if dir := h.Getenv("APPDATA"); h.absolute(dir) {
			return h.join(dir, parts...)
		}
		return h.inHome(append([]string{"AppData", "Roaming"}, parts...)...)
	case "darwin":
		return h.inHome(append([]string{"Library", "Application Support"}, parts...)...)
	}
	if dir := h.Getenv("XDG_CONFIG_HOME"); h.absolute(dir) {
		return h.join(dir, parts...)
	}
	return h.inHome(append([]string{".config"}, parts...)...)
}

func (h AppHost) claudeCode() string {
	if dir := h.Getenv("CLAUDE_CONFIG_DIR"); h.absolute(dir) {
		return h.join(dir, ".claude.json")
	}
	return h.inHome(".claude.json")
}

// built matches a path below what go run builds in: its work folder, or its
// cache, whatever that is called.
var built = regexp.MustCompile(`(^|[/\\])go-build\d*[/\\]|[/\\][0-9a-f]{64}-d[/\\][^/\\]*$`)

// Throwaway reports whether a program was built by go run, which keeps it for
// that one run: no other program can be told to start it.
func Throwaway(program string) bool { return built.MatchString(program) }

// field is one member of a JSON object that keeps its order.
type field struct {
	name  string
	value any // a string, []string or []field
}

// jsonObject writes an object over several lines, as people write it; behind the
// first one each line begins with prefix.
func jsonObject(fields []field, prefix string) string {
	var b strings.Builder
	b.WriteString("{")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n%s  %s: ", prefix, quotedJSON(f.name))
		switch v := f.value.(type) {
		case []field:
			b.WriteString(jsonObject(v, prefix+"  "))
		case []string:
			parts := make([]string, len(v))
			for i, s := range v {
				parts[i] = quotedJSON(s)
			}
			b.WriteString("[" + strings.Join(parts, ", ") + "]")
		case string:
			b.WriteString(quotedJSON(v))
		}
	}
	b.WriteString("\n" + prefix + "}")
	return b.String()
}

func quotedJSON(s string) string { return string(jsonparts.AppendText(nil, s)) }

// plainWord needs no quotes in any shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./\\-]+$`)

// shellWord is a word for the shell that people of a system paste into:
// PowerShell on Windows.
func shellWord(goos, s string) string {
	switch {
	case plainWord.MatchString(s) && (goos == "windows" || !strings.Contains(s, `\`)):
		return s
	case goos == "windows":
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// getApps serves GET /api/mcp/apps: how other programs are told to use the
// companion, as an agent.
func (s *Server) getApps(w http.ResponseWriter, r *http.Request) {
	h := AppHost{
		OS: runtime.GOOS, Home: s.config.Home, Getenv: s.config.Getenv, Command: s.config.Self,
		Agent: r.URL.Query().Get("agent"), URL: s.Address() + "mcp",
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"apps": Apps(h), "url": h.URL, "token_place": TokenPlace, "throwaway": Throwaway(h.Command)})
}
