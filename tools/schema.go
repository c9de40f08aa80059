package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"zeroclaw/tools/jsonparts"
)

// Schemas checks arguments against the input schemas of tools. Compiled
// schemas are kept, bounded in number.
type Schemas struct {
	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema // by the text of the schema
}

// maxCompiled bounds Schemas: far more than the tools of any session.
const maxCompiled = 4096

// ArgumentError says what is wrong with the arguments of a call.
type ArgumentError struct {
	Field   string // dotted path of the argument, "" for all of them
	Message string
}

func (e *ArgumentError) Error() string { return e.Message }

// noLoader refuses every reference that leaves the schema: a schema comes from
// a server and must not make us open files or addresses.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("references outside the schema are not followed: %s", url)
}

// Check validates args against schema. It returns an *ArgumentError for
// arguments that do not fit. A schema that does not compile checks nothing but
// that the arguments are an object: its server will judge them itself.
func (s *Schemas) Check(schema, args json.RawMessage) error {
	if !json.Valid(args) {
		_, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
		return &ArgumentError{Message: fmt.Sprintf("the arguments are not valid JSON: %v", err)}
	}
	value := decoded(args)
	if _, ok := value.(map[string]any); !ok {
		return &ArgumentError{Message: "the arguments must be a JSON object"}
	}
	compiled := s.compile(schema)
	if compiled == nil {
		return nil
	}
	err := compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return explain(invalid, compiled)
	}
	return err
}

// decoded is a JSON value that is known to be valid as jsonschema wants it.
func decoded(raw json.RawMessage) any {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case '{':
		out := map[string]any{}
		for key, value := range jsonparts.Members(raw) {
			out[key] = decoded(value)
		}
		return out
	case '[':
		out := []any{}
		for value := range jsonparts.Elements(raw) {
			out = append(out, decoded(value))
		}
		return out
	case '"':
		return jsonparts.Text(raw)
	case 't', 'f':
		return raw[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(raw)
}

func (s *Schemas) compile(schema json.RawMessage) *jsonschema.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.compiled[string(schema)]; ok {
		return c
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	var compiled *jsonschema.Schema
	if err == nil {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.UseLoader(noLoader{})
		if c.AddResource("schema:tool", doc) == nil {
			compiled, _ = c.Compile("schema:tool")
		}
	}
	if s.compiled == nil || len(s.compiled) >= maxCompiled {
		s.compiled = map[string]*jsonschema.Schema{}
	}
	s.compiled[string(schema)] = compiled
	return compiled
}

// printer words what does not fit.
var printer = sync.OnceValue(func() *message.Printer { return message.NewPrinter(language.English) })

// explain turns the first leaf of a validation error into one sentence.
func explain(e *jsonschema.ValidationError, schema *jsonschema.Schema) *ArgumentError {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	field := strings.Join(e.InstanceLocation, ".")
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		name := k.Properties[0]
		m := fmt.Sprintf("unknown argument %q", name)
		if field == "" && len(schema.Properties) > 0 {
			known := make([]string, 0, len(schema.Properties))
			for p := range schema.Properties {
				known = append(known, p)
			}
			slices.Sort(known)
			m += "; this tool takes " + strings.Join(known, ", ")
		}
		return &ArgumentError{Field: strings.TrimPrefix(field+"."+name, "."), Message: m}
	case *kind.Required:
		name := k.Missing[0]
		return &ArgumentError{Field: strings.TrimPrefix(field+"."+name, "."), Message: fmt.Sprintf("argument %q is missing", name)}
	}
	if field == "" {
		return &ArgumentError{Message: "the arguments do not fit: " + e.ErrorKind.LocalizedString(printer())}
	}
	return &ArgumentError{Field: field, Message: fmt.Sprintf("argument %q does not fit: %s", field, e.ErrorKind.LocalizedString(printer()))}
}

// withoutApproved removes an "approved" argument that the tool does not
// declare: a model that claims consent has none.
func withoutApproved(schema, args json.RawMessage) json.RawMessage {
	if !bytes.Contains(args, []byte("approved")) {
		return args
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return args
	}
	if _, ok := fields["approved"]; !ok {
		return args
	}
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &declared) == nil {
		if _, ok := declared.Properties["approved"]; ok {
			return args
		}
	}
	delete(fields, "approved")
	out, err := json.Marshal(fields)
	if err != nil {
		return args
	}
	return out
}
