package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"zeroclaw/tools/jsonparts"
)

// enterServer enters a server under a name into a section of the configuration
// of an MCP client: JSON that may have comments and commas too many. Not a byte
// changes that does not have to. Of a server that is there already, only the
// members that entry has are set, unless it is reached in another way. entry is
// a JSON object over several lines.
func enterServer(file []byte, section, name string, entry json.RawMessage) ([]byte, error) {
	bom, doc := []byte(nil), file
	if bytes.HasPrefix(file, utf8BOM) {
		bom, doc = utf8BOM, file[len(utf8BOM):]
	}
	if at := invalidAt(doc); at >= 0 {
		return nil, placed(doc, at, errors.New("it is not UTF-8"))
	}
	if len(bytes.TrimSpace(doc)) == 0 {
		doc = []byte("{}\n")
	}
	root, err := parse(doc)
	if err != nil {
		return nil, err
	}
	servers, err := root.object(section)
	if err != nil {
		return nil, err
	}
	if servers == nil {
		whole := "{\n  " + encoded(name) + ": " + strings.ReplaceAll(string(entry), "\n", "\n  ") + "\n}"
		doc = root.add(section, whole)
		return slices.Concat(bom, doc), checked(doc, section, name, entry)
	}
	server, err := servers.object(name)
	var kind *wrongKind
	switch {
	case errors.As(err, &kind):
		doc = servers.set(name, string(entry))
	case err != nil:
		return nil, err
	case server == nil:
		doc = servers.add(name, string(entry))
	case server.has("url") || server.has("serverUrl") || server.has("httpUrl"):
		doc = servers.set(name, string(entry))
	default:
		if doc, err = setMembers(doc, section, name, entry); err != nil {
			return nil, err
		}
	}
	return slices.Concat(bom, doc), checked(doc, section, name, entry)
}

var utf8BOM = []byte("\xef\xbb\xbf")

// setMembers sets the members of a server that is there.
func setMembers(doc []byte, section, name string, entry json.RawMessage) ([]byte, error) {
	var wanted [][2]string
	if err := jsonparts.Split(entry, func(name string, value json.RawMessage) { wanted = append(wanted, [2]string{name, string(value)}) }); err != nil {
		return nil, err
	}
	for _, m := range wanted {
		root, err := parse(doc) // each change moves what follows
		if err != nil {
			return nil, err
		}
		servers, err := root.object(section)
		if err != nil {
			return nil, err
		}
		server, err := servers.object(name)
		if err != nil {
			return nil, err
		}
		at, err := server.find(m[0])
		switch {
		case err != nil:
			return nil, err
		case at < 0:
			doc = server.add(m[0], m[1])
		case !sameJSON(server.Members[at].Value, m[1]):
			doc = server.set(m[0], m[1])
		}
	}
	return doc, nil
}

// checked makes sure of what was made: it reads as JSON with comments, and the
// server is in there.
func checked(doc []byte, section, name string, entry json.RawMessage) error {
	root, err := parse(doc)
	if err != nil {
		return fmt.Errorf("the change would break the file: %w", err)
	}
	var got map[string]json.RawMessage
	if servers, err := root.object(section); err == nil && servers != nil {
		if at, err := servers.find(name); err == nil && at >= 0 {
			got = map[string]json.RawMessage{}
			_ = json.Unmarshal(standard(servers.Members[at].Value), &got)
		}
	}
	ok := got != nil
	_ = jsonparts.Split(entry, func(name string, value json.RawMessage) {
		ok = ok && equalJSON(got[name], value)
	})
	if !ok {
		return errors.New("the change would not enter the server")
	}
	return nil
}

// encoded is a text as JSON.
func encoded(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // no string fails
		return `""`
	}
	return strings.TrimSpace(b.String())
}

// standard is a value without comments and commas too many.
func standard(v hujson.Value) []byte {
	v = v.Clone()
	v.Standardize()
	return v.Pack()
}

func sameJSON(v hujson.Value, other string) bool { return equalJSON(standard(v), []byte(other)) }

func equalJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

// invalidAt is where a text is not UTF-8, -1 where it is.
func invalidAt(doc []byte) int {
	for at := 0; at < len(doc); {
		r, n := utf8.DecodeRune(doc[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
	return -1
}

// placed is an error with the line and column, in characters, of a position.
func placed(doc []byte, at int, err error) error {
	at = min(at, len(doc))
	line := 1 + bytes.Count(doc[:at], []byte("\n"))
	begin := bytes.LastIndexByte(doc[:at], '\n') + 1
	return fmt.Errorf("line %d, column %d: %w", line, 1+utf8.RuneCount(doc[begin:at]), err)
}
