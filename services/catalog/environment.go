package catalog

import (
	"runtime"
	"slices"
	"strings"
)

// passed are the variables of our own environment that npm, pip and the
// programs that are asked for their version get. The rest stays with us.
var passed = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"NVM_DIR", "VOLTA_HOME", "FNM_DIR", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "PYENV_ROOT", "PYENV_VERSION",
	// An .npmrc refers to these by name, and npm does not start when they are missing.
	"NPM_TOKEN", "NODE_AUTH_TOKEN",
}

var passedWindows = []string{
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERNAME", "USERDOMAIN",
	"SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS",
}

// npmSettings are the settings of npm that an environment may make (as
// npm_config_NAME): where packages come from and how they are reached, not
// where they go. Those of a companion that was itself started by npm would
// lead elsewhere.
var npmSettings = []string{
	"registry", "proxy", "http_proxy", "https_proxy", "noproxy", "ca", "cafile", "cert", "key", "certfile", "keyfile", "strict_ssl",
	"userconfig", "globalconfig", "cache", "offline", "prefer_offline", "maxsockets", "replace_registry_host", "local_address",
}

var pipSettings = []string{
	"INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "CERT", "CLIENT_CERT", "PROXY", "TRUSTED_HOST", "CACHE_DIR", "NO_CACHE_DIR",
	"CONFIG_FILE", "DEFAULT_TIMEOUT", "TIMEOUT", "RETRIES", "KEYRING_PROVIDER", "ONLY_BINARY", "NO_BINARY", "PREFER_BINARY", "CONSTRAINT",
}

// environment is what a program gets of our own environment, with path as its
// PATH.
func environment(own []string, path string) []string {
	windows := runtime.GOOS == "windows"
	var env []string
	for _, entry := range own {
		k, _, ok := strings.Cut(entry, "=")
		if ok && k != "" && passes(k, windows) {
			env = append(env, entry)
		}
	}
	return append(env, "PATH="+path)
}

func passes(name string, windows bool) bool {
	upper, lower := strings.ToUpper(name), strings.ToLower(name)
	exact := name
	if windows {
		exact = upper
	}
	if setting, ok := strings.CutPrefix(lower, "npm_config_"); ok {
		return slices.Contains(npmSettings, strings.ReplaceAll(setting, "-", "_")) || strings.HasPrefix(setting, "//") || strings.HasSuffix(setting, ":registry")
	}
	if setting, ok := strings.CutPrefix(exact, "PIP_"); ok {
		return slices.Contains(pipSettings, setting)
	}
	return strings.HasPrefix(exact, "LC_") || slices.Contains(passed, exact) || strings.HasSuffix(upper, "_PROXY") && slices.Contains(passed, upper) ||
		windows && slices.Contains(passedWindows, upper)
}
