package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

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
