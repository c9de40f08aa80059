package tools

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Bounds of ModelSchema.
const (
	// MaxModelSchema is how many bytes ModelSchema returns at most.
	MaxModelSchema = 64 << 10
	// maxSchemaInput is the longest schema that is looked into, in bytes.
	maxSchemaInput = 1 << 20
	// maxSchemaDepth is how deep schemas are nested in the copy.
	maxSchemaDepth = 20
	// maxSchemaSteps bounds the work on one attempt at a copy: places looked at,
	// however little of them ends up in the copy.
	maxSchemaSteps = 200_000
)

// openSchema takes any object.
var openSchema = json.RawMessage(`{"type":"object","properties":{}}`)

// tooLargeSchema stands for a schema that cannot be shown.
var tooLargeSchema = json.RawMessage(`{"type":"object","description":"(the server's schema is too large to be shown)","properties":{}}`)

// ModelSchema is a copy of an input schema that every model provider takes. It
// is for the model alone: calls are checked against the server's own schema,
// which says more. The same bytes always give the same copy, so that a caller
// may keep it; white space and the order of properties are the server's.
//
// The copy is valid JSON Schema 2020-12 of at most MaxModelSchema bytes:
//   - the outermost level is always an object with properties, without anyOf,
//     oneOf, allOf, not, enum or if: what these say of properties is merged, and
//     which arguments go together is said in words;
//   - every $ref within the schema is replaced by what it means; a cycle is cut
//     with a note, and one that leads elsewhere is never followed: an open
//     schema with a note stands there;
//   - a property whose name providers refuse (not ^[A-Za-z0-9_.-]{1,64}$) is
//     left out and named in the description, where a model still finds it;
//   - texts of the server have no hidden characters and are cut, see ModelText;
//   - keywords that no provider reads, or with values that are not valid, are
//     left out; older drafts are translated where they differ.
//
// What is no schema at all becomes an open object. Of a schema that would be
// too large the texts are left out, then what is nested deep, then everything.
func ModelSchema(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) > maxSchemaInput {
		return tooLargeSchema
	}
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return openSchema
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	root := &schemaNode{raw: raw}
	for _, attempt := range []struct {
		texts bool
		depth int
	}{{true, maxSchemaDepth}, {false, maxSchemaDepth}, {false, 3}} {
		w := &schemaWriter{root: root, texts: attempt.texts, depth: attempt.depth, active: map[*schemaNode]bool{}, out: make([]byte, 0, min(len(raw), MaxModelSchema)+256)}
		w.object(root)
		if !w.over() {
			return w.out
		}
	}
	return tooLargeSchema
}
