package resolve

import (
	"fmt"
	"regexp"
	"strings"
)

// refusedOnWindows says why a path must not be used on Windows, or "". It takes
// the path as a caller wrote it, with either slash. Refused is every spelling
// that the system takes for another name than the text shows: device and
// network paths, drives without a slash, streams, device names, dots and spaces
// that are dropped, short names. The rules are those of "Naming Files, Paths,
// and Namespaces" in the Windows documentation.
func refusedOnWindows(given string) string {
	p := strings.ReplaceAll(given, `\`, "/")
	switch {
	case strings.HasPrefix(p, "//?/"), strings.HasPrefix(p, "//./"), strings.HasPrefix(p, "/??/"):
		return "device paths are refused"
	case strings.HasPrefix(p, "//"):
		return "network paths are refused"
	case strings.HasPrefix(p, "/"):
		return "it names no drive"
	}
	if len(p) >= 2 && p[1] == ':' {
		switch {
		case p[0]|0x20 < 'a' || p[0]|0x20 > 'z':
			return "it names no drive"
		case len(p) == 2 || p[2] != '/':
			return "a drive needs a slash behind it"
		}
		p = p[3:]
	}
	for _, name := range strings.Split(p, "/") {
		if why := refusedName(name); why != "" {
			return why
		}
	}
	return ""
}

// shortName is the 8.3 form: up to eight characters with a tilde and a number,
// and an extension of up to three.
var shortName = regexp.MustCompile(`^[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)

func refusedName(name string) string {
	if name == "" || name == "." || name == ".." || name == "~" {
		return ""
	}
	for _, c := range name {
		switch {
		case c == ':':
			return fmt.Sprintf("%q names a stream of a file", name)
		case c < 0x20 || strings.ContainsRune(`<>"|?*`, c):
			return fmt.Sprintf("%q holds a character that no name may have", name)
		}
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return fmt.Sprintf("%q ends in a dot or a space, which the system drops", name)
	}
	stem, _, _ := strings.Cut(name, ".")
	if isDevice(strings.ToUpper(strings.TrimRight(stem, " "))) {
		return fmt.Sprintf("%q is the name of a device", name)
	}
	if shortName.MatchString(name) {
		return fmt.Sprintf("%q is a short name; write the long one", name)
	}
	return ""
}

// isDevice takes the part of a name in front of the first dot, upper case.
func isDevice(stem string) bool {
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	number, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		number, ok = strings.CutPrefix(stem, "LPT")
	}
	if !ok {
		return false
	}
	switch number {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u00b9", "\u00b2", "\u00b3":
		return true
	}
	return false
}
