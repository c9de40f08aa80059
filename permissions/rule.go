package permissions

import (
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a rule and of a list of them. A name of a file has at most 255
// bytes on every system that we run on, and eight stars keep the matcher of one
// name far below a millisecond. Each call is judged by every rule: sixteen names
// with wildcards and a thousand rules keep the worst path at about a second,
// and any other far below a millisecond.
const (
	maxRules        = 1000
	maxRuleBytes    = 4096
	maxWildNames    = 16
	maxSegmentBytes = 255
	maxSegmentStars = 8
)

// Rule is one parsed line of the allowed directories. ParseRules makes it; a
// literal Rule has no wildcards, whatever its Pattern says.
type Rule struct {
	Line    int    // 1-based line in its list
	Text    string // as written, outer spaces removed
	Read    bool
	Write   bool
	Pattern string // after the colon, slash-separated

	anchor anchor
	prefix []string  // the fixed names in front; ".." only at the start
	rest   []segment // from the first name with a wildcard on
}

// anchor is what the fixed prefix of a rule hangs from.
type anchor uint8

const (
	anchorRoot anchor = iota // the session's root
	anchorHome
	anchorTop   // the top of the file system
	anchorDrive // a Windows drive, which is prefix[0]
)

// InvalidRule is a line that is no rule.
type InvalidRule struct {
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Code    string `json:"code"` // stable name of the reason
	Message string `json:"message"`
}

// ParseRules reads rules, one a line or element. Blank lines and comments are
// skipped. Bad lines do not harm the others.
func ParseRules(lines []string) ([]Rule, []InvalidRule) {
	return parseRules(lines, runtime.GOOS == "windows")
}

func parseRules(lines []string, windows bool) (rules []Rule, bad []InvalidRule) {
	n := 0
	for _, element := range lines {
		for _, line := range strings.Split(strings.TrimSuffix(element, "\n"), "\n") {
			n++
			text := trimOuter(line)
			if text == "" || text[0] == '#' {
				continue
			}
			r, why := parseRule(text, windows)
			if why == nil && len(rules) == maxRules {
				why = faultf("too_many_rules", "there are more than %d rules", maxRules)
			}
			if why != nil {
				bad = append(bad, InvalidRule{Line: n, Text: text, Code: why.code, Message: why.message})
				continue
			}
			r.Line = n
			rules = append(rules, r)
		}
	}
	return rules, bad
}

// trimOuter removes what an editor leaves around a line. Other Unicode spaces
// may belong to a name.
func trimOuter(s string) string { return strings.Trim(s, " \t\r") }

// fault says why a line is no rule.
type fault struct{ code, message string }

func faultf(code, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...)}
}

func parseRule(text string, windows bool) (Rule, *fault) {
	if len(text) > maxRuleBytes {
		return Rule{}, faultf("too_long", "the rule has %d bytes; at most %d are possible", len(text), maxRuleBytes)
	}
	if !utf8.ValidString(text) {
		return Rule{}, faultf("encoding", "the rule is not valid UTF-8")
	}
	r := Rule{Text: text}
	letters, pattern, found := strings.Cut(text, ":")
	switch {
	case found && letters == "R":
		r.Read = true
	case found && letters == "W":
		r.Write = true
	case found && letters == "RW":
		r.Read, r.Write = true, true
	default:
		return Rule{}, faultf("grammar", "a rule starts with R:, W: or RW: and then a path, such as R:./docs/**")
	}
	pattern = trimOuter(pattern)
	if pattern == "" {
		return Rule{}, faultf("empty", "the rule names no path after %s:", letters)
	}
	if i := strings.IndexFunc(pattern, unicode.IsControl); i >= 0 {
		return Rule{}, faultf("control_character", "the path of the rule holds a control character at byte %d", i+1)
	}
	if windows {
		pattern = strings.ReplaceAll(pattern, `\`, "/")
	}
	r.Pattern = pattern
	if why := r.split(DecodePath(pattern), windows); why != nil {
		return Rule{}, why
	}
	return r, nil
}

// split takes the pattern apart into its anchor, fixed prefix and the segments
// behind it.
func (r *Rule) split(pattern string, windows bool) *fault {
	switch {
	case windows && strings.HasPrefix(pattern, "//"):
		return faultf("network_path", "network and device paths cannot be allowed")
	case windows && hasDrive(pattern):
		if len(pattern) > 2 && pattern[2] != '/' || len(pattern) == 2 {
			return faultf("drive_relative", "write the drive with a slash behind it, such as C:/Users")
		}
		r.anchor = anchorDrive
		r.prefix = []string{strings.ToUpper(pattern[:1]) + ":"}
		pattern = pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		r.anchor = anchorTop
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		r.anchor = anchorHome
		pattern = pattern[1:]
	}
	floor, wilds := len(r.prefix), 0
	for _, name := range strings.Split(pattern, "/") {
		if name == "" || name == "." {
			continue
		}
		wild := strings.Contains(name, "*")
		if wild {
			wilds++
		}
		switch {
		case wilds > maxWildNames:
			return faultf("too_many_wildcards", "more than %d names in the rule hold a *", maxWildNames)
		case len(name) > maxSegmentBytes:
			return faultf("long_name", "a name in the rule has %d bytes; at most %d are possible", len(name), maxSegmentBytes)
		case name == "..":
			if len(r.rest) > 0 {
				return faultf("dots_after_wildcard", "the rule goes up with .. behind a wildcard")
			}
			r.goUp(floor)
		case !wild && len(r.rest) == 0:
			r.prefix = append(r.prefix, name)
		default:
			s, why := newSegment(name)
			if why != nil {
				return why
			}
			if s.deep && len(r.rest) > 0 && r.rest[len(r.rest)-1].deep {
				continue // a second ** in a row adds nothing
			}
			r.rest = append(r.rest, s)
		}
	}
	return nil
}

func (r *Rule) goUp(floor int) {
	n := len(r.prefix)
	switch {
	case n > floor && r.prefix[n-1] != "..":
		r.prefix = r.prefix[:n-1]
	case r.anchor == anchorRoot || r.anchor == anchorHome:
		r.prefix = append(r.prefix, "..")
	}
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
}

// Prefix is the part of the pattern before its first wildcard segment, cleaned:
// "./docs", "../x", "~/x", "/etc", "C:/Users", or ".", "~/", "/", "C:/" where
// nothing is in front. For a pattern without a wildcard it is the entire
// pattern.
func (r Rule) Prefix() string {
	names := strings.Join(r.prefix, "/")
	switch r.anchor {
	case anchorHome:
		return "~/" + names
	case anchorTop:
		return "/" + names
	case anchorDrive:
		if len(r.prefix) == 1 {
			return names + "/"
		}
		return names
	}
	switch {
	case names == "":
		return "."
	case r.prefix[0] == "..":
		return names
	}
	return "./" + names
}

// Relative reports whether the rule hangs from the session's root.
func (r Rule) Relative() bool { return r.anchor == anchorRoot }

// Exact reports whether the rule covers one path only.
func (r Rule) Exact() bool { return len(r.rest) == 0 }
