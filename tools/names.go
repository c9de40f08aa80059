package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"zeroclaw/permissions"
)

// Definition names one tool of one MCP server.
type Definition struct {
	Origin permissions.Origin
	Server string
	Tool   string // the server's own name
}

// longestName is how long a name may be for every model provider.
const longestName = 64

// accepted reports whether every model provider accepts the name:
// ^[A-Za-z][A-Za-z0-9_-]{0,63}$.
func accepted(name string) bool {
	return name != "" && isLetter(name[0]) && len(name) <= longestName && strings.IndexFunc(name, isOther) < 0
}

// isOther tells the characters that no name may hold.
func isOther(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// looksSuffixed reports a plain join that could be taken for a suffixed name.
func looksSuffixed(name string) bool {
	i := len(name) - 9
	return i >= 0 && name[i] == '-' && strings.Trim(name[i+1:], "0123456789abcdef") == ""
}

// longestStem leaves room for "-" and eight hex digits within 64 characters.
const longestStem = 55

// Names gives every definition its full name: a service's tool
// mcp_<service>_<tool>, any other server's tool <server>__<tool>. A name that
// providers would not accept, that two tools would share, or that looks
// suffixed already, gets a suffix made from a hash of the definition, so that
// a grant for a plain name never reaches a tool that took it over.
//
// The result is a pure function of the set of definitions. Definitions that
// still meet are left out and returned as clashes; reserved names (the local
// tools) are never given away.
func Names(defs []Definition, reserved []string) (names map[Definition]string, clashes []Definition) {
	defs = slices.Clone(defs)
	slices.SortFunc(defs, func(a, b Definition) int {
		return strings.Compare(key(a), key(b))
	})
	defs = slices.Compact(defs)

	taken := map[string]int{}
	for _, n := range reserved {
		taken[n]++
	}
	for _, d := range defs {
		taken[plainName(d)]++
	}
	given := map[string][]Definition{}
	for _, d := range defs {
		n := plainName(d)
		if taken[n] > 1 || !accepted(n) || looksSuffixed(n) {
			n = suffixedName(d)
		}
		given[n] = append(given[n], d)
	}
	names = make(map[Definition]string, len(defs))
	for n, ds := range given {
		if len(ds) > 1 || slices.Contains(reserved, n) {
			clashes = append(clashes, ds...)
			continue
		}
		names[ds[0]] = n
	}
	slices.SortFunc(clashes, func(a, b Definition) int { return strings.Compare(key(a), key(b)) })
	return names, clashes
}

func plainName(d Definition) string {
	if d.Origin == permissions.OriginService {
		return "mcp_" + d.Server + "_" + d.Tool
	}
	return d.Server + "__" + d.Tool
}

func suffixedName(d Definition) string {
	var b strings.Builder
	for _, r := range plainName(d) {
		if isOther(r) {
			r = '-'
		}
		b.WriteRune(r)
	}
	stem := b.String()
	if stem == "" || !isLetter(stem[0]) {
		stem = "x" + stem
	}
	if len(stem) > longestStem {
		stem = stem[:longestStem]
	}
	sum := sha256.Sum256([]byte(key(d)))
	return stem + "-" + hex.EncodeToString(sum[:4])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func key(d Definition) string {
	return string(d.Origin) + "\x00" + d.Server + "\x00" + d.Tool
}
