package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// Fields is the table of every setting, in the order in which they are listed.
func Fields() []Field {
	return []Field{
		{Path: "server.port", Kind: Integer, Default: int64(6388), Min: 1, Max: 65535, Applies: Restart,
			En: "TCP port on 127.0.0.1; when it is taken, a free one is used.",
			Es: "Puerto TCP en 127.0.0.1; si está ocupado, se usa uno libre."},
		{Path: "server.ui_origin", Kind: String, Check: checkOrigin, Applies: Restart,
			En: "The one other origin that the page may be served from, such as https://ui.example.org.",
			Es: "El único otro origen desde el que puede servirse la página, como https://ui.example.org."},
		{Path: "server.exit_when_idle", Kind: String, Check: checkDuration, Applies: Restart,
			En: "End by itself after this time without use, such as 10m; empty: never from a terminal, else after 10m.",
			Es: "Termina solo tras este tiempo sin uso, como 10m; vacío: nunca desde un terminal, si no tras 10m."},
		{Path: "server.approval_timeout_secs", Kind: Integer, Default: int64(120), Min: 1, Max: 3600, Applies: Live,
			En: "Seconds that a question waits for an answer before it counts as denied.",
			Es: "Segundos que una pregunta espera respuesta antes de contar como denegada."},

		{Path: "permissions.policy", Kind: String, Default: "ask", Enum: []string{"ask", "allow_all"}, Applies: Live,
			En: "What happens where nothing else decides: ask, or allow everything.",
			Es: "Qué ocurre cuando nada más decide: preguntar o permitir todo."},
		{Path: "permissions.directories", Kind: Array, Applies: Live,
			En: "Rules for files and folders that need no question, such as R:./docs/**.",
			Es: "Reglas de archivos y carpetas que no requieren pregunta, como R:./docs/**."},
		{Path: "permissions.tools.*.mode", Kind: String, Default: "ask", Enum: []string{"ask", "allow", "deny"}, Applies: Live,
			En: "What happens when the tool is called: ask, allow or deny.",
			Es: "Qué ocurre al llamar a la herramienta: preguntar, permitir o denegar."},
		{Path: "permissions.tools.*.enabled", Kind: Boolean, Default: true, Applies: Live,
			En: "Whether the tool exists for a model at all.",
			Es: "Si la herramienta existe para un modelo."},

		{Path: "mcp.enabled", Kind: Boolean, Default: true, Applies: NewSessions,
			En: "Whether configured MCP servers are used.",
			Es: "Si se usan los servidores MCP configurados."},
		{Path: "mcp.deferred_loading", Kind: Boolean, Default: false, Applies: NewSessions,
			En: "Show a model the tools of MCP servers only after it has searched for them.",
			Es: "Muestra al modelo las herramientas de servidores MCP solo después de que las busque."},
		{Path: "mcp.servers.*.name", Kind: String, Check: checkServerName, Applies: NewSessions,
			En: "Unique name of the server, without regard to case.",
			Es: "Nombre único del servidor, sin distinguir mayúsculas."},
		{Path: "mcp.servers.*.transport", Kind: String, Default: "stdio", Enum: []string{"stdio", "http", "sse", "jsonrpc"}, Applies: NewSessions,
			En: "How the server is reached.",
			Es: "Cómo se accede al servidor."},
		{Path: "mcp.servers.*.enabled", Kind: Boolean, Default: true, Applies: NewSessions,
			En: "Whether the server is used.",
			Es: "Si se usa el servidor."},
		{Path: "mcp.servers.*.command", Kind: String, Applies: NewSessions,
			En: "Program to start (stdio).",
			Es: "Programa que se inicia (stdio)."},
		{Path: "mcp.servers.*.args", Kind: Array, Applies: NewSessions,
			En: "Arguments of the program.",
			Es: "Argumentos del programa."},
		{Path: "mcp.servers.*.cwd", Kind: String, Applies: NewSessions,
			En: "Folder that the program starts in; empty: the root.",
			Es: "Carpeta en la que se inicia el programa; vacío: la raíz."},
		{Path: "mcp.servers.*.env.*", Kind: Secret, Applies: NewSessions,
			En: "An environment variable of the program.",
			Es: "Una variable de entorno del programa."},
		{Path: "mcp.servers.*.url", Kind: String, Check: checkURL, Applies: NewSessions,
			En: "Address of the server (http, sse, jsonrpc).",
			Es: "Dirección del servidor (http, sse, jsonrpc)."},
		{Path: "mcp.servers.*.headers.*", Kind: Secret, Applies: NewSessions,
			En: "An HTTP header sent with every request.",
			Es: "Una cabecera HTTP que se envía con cada petición."},
		{Path: "mcp.servers.*.tool_timeout_secs", Kind: Integer, Default: int64(180), Min: 1, Max: 600, Applies: NewSessions,
			En: "Seconds that one call may take.",
			Es: "Segundos que puede durar una llamada."},
		{Path: "mcp.servers.*.connect_timeout_secs", Kind: Integer, Default: int64(30), Min: 1, Max: 600, Applies: NewSessions,
			En: "Seconds until the server must be connected.",
			Es: "Segundos hasta que el servidor debe estar conectado."},
		{Path: "mcp.servers.*.max_response_bytes", Kind: Integer, Default: int64(0), Min: 0, Max: 1 << 30, Applies: NewSessions,
			En: "Largest answer in bytes; 0 is 16078168.",
			Es: "Respuesta más grande en bytes; 0 equivale a 16078168."},
		{Path: "mcp.servers.*.tls_ca_cert_path", Kind: String, Check: checkAbsolute, Applies: NewSessions,
			En: "File with an additional certificate authority.",
			Es: "Archivo con una autoridad de certificación adicional."},
		{Path: "mcp.servers.*.pinned_resources", Kind: Array, Applies: NewSessions,
			En: "Resources that every session starts with.",
			Es: "Recursos con los que empieza cada sesión."},
		{Path: "mcp.servers.*.auth", Kind: String, Default: "none", Check: checkAuth, Applies: NewSessions,
			En: "How to sign in: none, secret:NAME or oauth.",
			Es: "Cómo autenticarse: none, secret:NOMBRE u oauth."},
		{Path: "mcp.servers.*.auth_header", Kind: String, Applies: NewSessions,
			En: "Header that carries the secret.",
			Es: "Cabecera que lleva el secreto."},
		{Path: "mcp.servers.*.oauth_client_id", Kind: String, Applies: NewSessions,
			En: "OAuth client identifier.",
			Es: "Identificador de cliente OAuth."},
		{Path: "mcp.servers.*.oauth_client_secret", Kind: Secret, Applies: NewSessions,
			En: "OAuth client secret.",
			Es: "Secreto de cliente OAuth."},
		{Path: "mcp.servers.*.oauth_scopes", Kind: Array, Applies: NewSessions,
			En: "OAuth scopes to ask for.",
			Es: "Ámbitos OAuth que se solicitan."},
		{Path: "mcp.servers.*.oauth_grant", Kind: String, Applies: NewSessions,
			En: "OAuth grant type.",
			Es: "Tipo de concesión OAuth."},
		{Path: "mcp.servers.*.tools", Kind: Array, Applies: NewSessions,
			En: "The only tools of the server that exist, by its own names; empty: all.",
			Es: "Las únicas herramientas del servidor que existen, con sus propios nombres; vacío: todas."},
		{Path: "mcp.servers.*.require_approval", Kind: Array, Applies: NewSessions,
			En: "Tools of the server that always ask, by its own names.",
			Es: "Herramientas del servidor que siempre preguntan, con sus propios nombres."},
		{Path: "mcp.servers.*.probe_secs", Kind: Integer, Default: int64(60), Min: 0, Max: 86400, Applies: NewSessions,
			En: "Seconds between checks that the server is alive; 0: none.",
			Es: "Segundos entre comprobaciones de que el servidor responde; 0: ninguna."},
		{Path: "mcp.servers.*.idle_stop_secs", Kind: Integer, Default: int64(0), Min: 0, Max: 86400, Applies: NewSessions,
			En: "Stop the server after this many seconds without a call; 0: never.",
			Es: "Detiene el servidor tras estos segundos sin llamadas; 0: nunca."},

		{Path: "mcp_bundles.*.servers", Kind: Array, Applies: NewSessions,
			En: "Servers that the bundle grants.",
			Es: "Servidores que concede el paquete."},
		{Path: "mcp_bundles.*.exclude", Kind: Array, Applies: NewSessions,
			En: "Servers that no bundle of the same agent can grant.",
			Es: "Servidores que ningún paquete del mismo agente puede conceder."},

		{Path: "agents.*.risk_profile", Kind: String, Applies: NewSessions,
			En: "Name of the agent's risk profile.",
			Es: "Nombre del perfil de riesgo del agente."},
		{Path: "agents.*.runtime_profile", Kind: String, Applies: NewSessions,
			En: "Name of the agent's runtime profile.",
			Es: "Nombre del perfil de ejecución del agente."},
		{Path: "agents.*.mcp_bundles", Kind: Array, Applies: NewSessions,
			En: "Bundles of servers that the agent may reach.",
			Es: "Paquetes de servidores a los que accede el agente."},
		{Path: "agents.*.tools.*", Kind: Array, Applies: NewSessions,
			En: "The only tools of one server that the agent may use.",
			Es: "Las únicas herramientas de un servidor que puede usar el agente."},
		{Path: "agents.*.media", Kind: Array, Applies: NewSessions,
			En: "Servers whose images and audio the agent is shown.",
			Es: "Servidores cuyas imágenes y audio se muestran al agente."},

		{Path: "risk_profiles.*.level", Kind: String, Default: "supervised", Enum: []string{"readonly", "supervised", "full"}, Applies: NewSessions,
			En: "How much is done without a person.",
			Es: "Cuánto se hace sin una persona."},
		{Path: "risk_profiles.*.auto_approve", Kind: Array, Applies: NewSessions,
			En: "Tools that run without a question, by full name; * means all.",
			Es: "Herramientas que se ejecutan sin pregunta, por nombre completo; * significa todas."},
		{Path: "risk_profiles.*.always_ask", Kind: Array, Applies: NewSessions,
			En: "Tools that always ask, by full name; * means all.",
			Es: "Herramientas que siempre preguntan, por nombre completo; * significa todas."},
		{Path: "risk_profiles.*.allowed_tools", Kind: Array, Applies: NewSessions,
			En: "The only local tools that exist, by full name; empty: all.",
			Es: "Las únicas herramientas locales que existen, por nombre completo; vacío: todas."},
		{Path: "risk_profiles.*.excluded_tools", Kind: Array, Applies: NewSessions,
			En: "Tools that do not exist, by full name.",
			Es: "Herramientas que no existen, por nombre completo."},

		{Path: "runtime_profiles.*.tool_filter_groups", Kind: Object, Check: checkGroups, Applies: NewSessions,
			En: "Groups of tools that are shown only when words of the message call for them.",
			Es: "Grupos de herramientas que se muestran solo cuando las palabras del mensaje lo piden."},
		{Path: "runtime_profiles.*.max_tool_result_chars", Kind: Integer, Default: int64(32768), Min: 1, Max: 10_000_000, Applies: NewSessions,
			En: "Characters of a result that a model is shown.",
			Es: "Caracteres de un resultado que se muestran al modelo."},

		{Path: "providers.*.kind", Kind: String, Enum: []string{"openai", "anthropic"}, Applies: Live,
			En: "Which API the provider speaks.",
			Es: "Qué API usa el proveedor."},
		{Path: "providers.*.base_url", Kind: String, Check: checkURL, Applies: Live,
			En: "Address of the provider's API; empty: the public one of its kind.",
			Es: "Dirección de la API del proveedor; vacío: la pública de su tipo."},
		{Path: "providers.*.model", Kind: String, Applies: Live,
			En: "Model that a chat starts with.",
			Es: "Modelo con el que empieza un chat."},
		{Path: "providers.*.models", Kind: Array, Applies: Live,
			En: "Models to choose from.",
			Es: "Modelos entre los que elegir."},
		{Path: "providers.*.api_key", Kind: Secret, Applies: Live,
			En: "Key of the provider; never shown again.",
			Es: "Clave del proveedor; no se vuelve a mostrar."},

		{Path: "secrets.encrypt", Kind: Boolean, Default: true, Applies: Live,
			En: "Seal secrets in the file.",
			Es: "Cifra los secretos en el archivo."},
		{Path: "secrets.vault.*", Kind: Secret, Applies: Live,
			En: "A secret that servers refer to by name.",
			Es: "Un secreto al que los servidores se refieren por su nombre."},
	}
}

// CheckOrigin says why an origin cannot be let in, nil if it can: one exact
// https origin, or an http one on this machine.
func CheckOrigin(origin string) error {
	if why := checkOrigin(origin); why != "" {
		return errors.New("it " + why)
	}
	return nil
}

func checkOrigin(v any) string {
	s := v.(string)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "#") || strings.ContainsAny(u.Host, "*") {
		return "must be one origin such as https://ui.example.org, without a path or a star"
	}
	loopback := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return "must begin with https:// (http:// only for this machine)"
	}
	return ""
}

func checkDuration(v any) string {
	s := v.(string)
	if s == "" {
		return ""
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || d > 30*24*time.Hour {
		return "must be a time such as 10m or 1h30m, from one second to 30 days"
	}
	return ""
}

func checkURL(v any) string {
	s := v.(string)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return "must use http or https"
	case err != nil || u.Scheme == "" || u.Hostname() == "" || strings.IndexFunc(s, unicode.IsSpace) >= 0:
		return "is not a valid URL such as https://api.example.org/v1"
	case u.User != nil:
		return "must not hold a user name or password; use the field for the key"
	case u.Fragment != "":
		return "must not hold a # part"
	}
	return ""
}

func checkAbsolute(v any) string {
	s := v.(string)
	if s != "" && !filepath.IsAbs(s) {
		return "must be an absolute path"
	}
	return ""
}

func checkAuth(v any) string {
	s := v.(string)
	name, isSecret := strings.CutPrefix(s, "secret:")
	if s == "" || s == "none" || s == "oauth" || isSecret && strings.TrimSpace(name) != "" {
		return ""
	}
	return "must be none, secret:NAME or oauth"
}

func checkServerName(v any) string { return checkServer(v.(string)) }

// checkServer judges the name of a server, which its tools' names begin with.
func checkServer(s string) string {
	if wrong := checkName(s); wrong != "" {
		return wrong
	}
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") {
		return "must not begin or end with _"
	}
	return ""
}

// checkName judges the name of an entry that tools are named after.
func checkName(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "must not be empty"
	case s != strings.TrimSpace(s):
		return "must not begin or end with a space"
	case strings.Contains(s, "__"):
		return `must not hold "__", which separates servers from tools`
	case len(s) > 128:
		return "must not be longer than 128 bytes"
	case s == "." || s == ".." || strings.ContainsAny(s, `/\`):
		return `must not hold / or \ or be a dot name`
	case strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) >= 0:
		return "must not hold control or invisible characters"
	}
	return ""
}

func checkGroups(v any) string {
	list, ok := v.([]any)
	if !ok {
		return "must be a list of groups, not " + describe(v)
	}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return "must hold only groups such as {mode = \"dynamic\", tools = [\"browser__*\"], keywords = [\"browse\"]}"
		}
		if mode, has := m["mode"]; has && mode != "always" && mode != "dynamic" {
			return `must have "always" or "dynamic" as the mode of each group`
		}
		for _, k := range []string{"tools", "keywords"} {
			texts, isList := m[k].([]any)
			if _, has := m[k]; has && !isList {
				return k + " of a group must be a list of texts"
			}
			for _, t := range texts {
				if _, isText := t.(string); !isText {
					return k + " of a group must be a list of texts"
				}
			}
		}
	}
	return ""
}
