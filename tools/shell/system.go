package shell

import (
	"bufio"
	"bytes"
	"runtime"
	"strings"
	"sync"
)

// SystemInfo names the machine that commands run on.
type SystemInfo struct {
	OS           string // runtime.GOOS
	Distribution string // "Debian GNU/Linux 12 (bookworm)", "macOS 15.1", "Windows 11 (build 22631)"; "" if not known
	Arch         string // runtime.GOARCH
}

var system = sync.OnceValue(func() SystemInfo {
	return SystemInfo{OS: runtime.GOOS, Distribution: distribution(), Arch: runtime.GOARCH}
})

// System says what machine this is. It is looked up once.
func System() SystemInfo { return system() }

// osRelease reads the name out of an os-release(5) file.
func osRelease(file []byte) string {
	values := map[string]string{}
	for scan := bufio.NewScanner(bytes.NewReader(file)); scan.Scan(); {
		name, value, ok := strings.Cut(strings.TrimSpace(scan.Text()), "=")
		if ok && !strings.HasPrefix(name, "#") {
			values[name] = strings.NewReplacer(`\$`, "$", `\"`, `"`, `\\`, `\`, "\\`", "`").Replace(strings.Trim(value, `"'`))
		}
	}
	if name := values["PRETTY_NAME"]; name != "" {
		return name
	}
	return strings.TrimSpace(values["NAME"] + " " + values["VERSION"])
}

// plistValue reads one string of a property list in XML.
func plistValue(file []byte, key string) string {
	_, rest, ok := strings.Cut(string(file), "<key>"+key+"</key>")
	if !ok {
		return ""
	}
	_, rest, ok = strings.Cut(rest, "<string>")
	value, _, closed := strings.Cut(rest, "</string>")
	if !ok || !closed {
		return ""
	}
	return value
}
