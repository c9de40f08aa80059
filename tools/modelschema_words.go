package tools

import (
	"bytes"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"

	"zeroclaw/tools/jsonparts"
)

// Longest values that are passed on as they are, in bytes.
const (
	maxFormat  = 64
	maxPattern = 1000
)

// schemaWord is a keyword that is passed on as it is when its value is valid.
type schemaWord struct {
	key   string
	valid func(*schemaNode) bool
	text  bool // left out when texts are
}

var schemaWords = []schemaWord{
	{key: "enum", valid: func(n *schemaNode) bool { return n.isArray() && len(n.all()) > 0 && n.shallow() }},
	{key: "const", valid: (*schemaNode).shallow},
	{key: "format", valid: func(n *schemaNode) bool { return n.isPlain(maxFormat) }},
	{key: "pattern", valid: isPattern},
	{key: "minLength", valid: isCount}, {key: "maxLength", valid: isCount},
	{key: "minimum", valid: isNumber}, {key: "maximum", valid: isNumber},
	{key: "exclusiveMinimum", valid: isNumber}, {key: "exclusiveMaximum", valid: isNumber},
	{key: "multipleOf", valid: func(n *schemaNode) bool { return isNumber(n) && n.number() > 0 }},
	{key: "minItems", valid: isCount}, {key: "maxItems", valid: isCount},
	{key: "uniqueItems", valid: (*schemaNode).isBool},
	{key: "contentEncoding", valid: func(n *schemaNode) bool { return n.isPlain(maxFormat) }},
	{key: "contentMediaType", valid: func(n *schemaNode) bool { return n.isPlain(maxFormat) }},
	{key: "nullable", valid: (*schemaNode).isBool},
	{key: "default", valid: (*schemaNode).shallow, text: true},
	{key: "examples", valid: func(n *schemaNode) bool { return n.isArray() && len(n.all()) > 0 && n.shallow() }, text: true},
}

func (n *schemaNode) isBool() bool { return string(n.raw) == "true" || string(n.raw) == "false" }

// isPlain reports a short string that holds nothing but visible ASCII.
func (n *schemaNode) isPlain(longest int) bool {
	return n.isString() && len(n.raw) <= longest+2 && bytes.IndexByte(n.raw, '\\') < 0 &&
		bytes.IndexFunc(n.raw, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// number is the value of a number that fits a float.
func (n *schemaNode) number() float64 {
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if err != nil || math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

func isNumber(n *schemaNode) bool {
	c := n.raw[0]
	return (c == '-' || c >= '0' && c <= '9') && len(n.raw) <= 32 && !math.IsNaN(n.number())
}

// isCount reports a whole number that is not negative.
func isCount(n *schemaNode) bool {
	return len(n.raw) <= 15 && bytes.IndexFunc(n.raw, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func isText(n *schemaNode) bool { return n.isString() && len(n.raw) > 2 }

func isNonEmptyArray(n *schemaNode) bool { return n.isArray() && len(n.all()) > 0 }

// isPattern reports a regular expression that means the same to every engine
// that may look at it. It is never run here.
func isPattern(n *schemaNode) bool {
	if !n.isString() || len(n.raw) > maxPattern {
		return false
	}
	text := jsonparts.Text(n.raw)
	for _, own := range []string{`\p`, `\P`, `\Q`, `\z`, `\C`, `[[:`} {
		if strings.Contains(text, own) {
			return false
		}
	}
	_, err := syntax.Parse(text, syntax.Perl)
	return err == nil
}

// shallow reports a value that is not nested deeper than any decoder takes.
func (n *schemaNode) shallow() bool {
	depth := 0
	for i := 0; i < len(n.raw); i++ {
		switch n.raw[i] {
		case '"':
			i = jsonparts.StringEnd(n.raw, i) - 1
		case '[', '{':
			if depth++; depth > maxSchemaDepth {
				return false
			}
		case ']', '}':
			depth--
		}
	}
	return true
}
