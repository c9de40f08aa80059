package mcpclient

import (
	"runtime"
	"slices"
	"strings"
)

// allowed are the variables of our own environment that a server gets. The rest
// stays with us: an environment holds the keys of everything that its user
// works with. A server that needs one gets it through its definition.
var allowed = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"NVM_DIR", "VOLTA_HOME", "FNM_DIR", "PNPM_HOME",
}

var allowedWindows = []string{
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERNAME", "USERDOMAIN",
	"SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"COMMONPROGRAMFILES", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS",
}

// environment picks the allowed variables, sets PATH, and adds the definition's
// own, which win.
func environment(own []string, path string, extra []string) []string {
	windows := runtime.GOOS == "windows"
	fold := func(k string) string {
		if windows {
			return strings.ToUpper(k)
		}
		return k
	}
	values := map[string]string{}
	var order []string
	set := func(entry string) {
		k, _, ok := strings.Cut(entry, "=")
		if !ok || k == "" {
			return
		}
		if _, known := values[fold(k)]; !known {
			order = append(order, fold(k))
		}
		values[fold(k)] = entry
	}
	for _, entry := range own {
		k, _, _ := strings.Cut(entry, "=")
		upper := strings.ToUpper(k)
		if strings.HasPrefix(fold(k), "LC_") || slices.Contains(allowed, fold(k)) || strings.HasSuffix(upper, "_PROXY") && slices.Contains(allowed, upper) ||
			windows && slices.Contains(allowedWindows, upper) {
			set(entry)
		}
	}
	set("PATH=" + path)
	for _, entry := range extra {
		set(entry)
	}
	out := make([]string, 0, len(order))
	for _, k := range order {
		out = append(out, values[k])
	}
	return out
}
