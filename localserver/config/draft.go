package config

import (
	"fmt"

	"zeroclaw/services"
)

// Draft is what the definition of a server would be with changes that are not
// saved: the fields of mcp.servers by name, a JSON decoder's values; env and
// headers may leave out secrets that the file has. The server need not exist.
// The error is a *FieldError.
func (f *File) Draft(name string, fields map[string]any) (services.Spec, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := readContent(f.path)
	var edits []Edit
	for _, key := range sortedKeys(fields) {
		path := Join(Join("mcp.servers", name), key)
		if m, ok := fields[key].(map[string]any); ok {
			// Each by itself: what is left out stays as it is in the file.
			for _, k := range sortedKeys(m) {
				edits = append(edits, Edit{Path: Join(path, k), Value: m[k]})
			}
			continue
		}
		edits = append(edits, Edit{Path: path, Value: fields[key]})
	}
	if len(edits) == 0 {
		edits = []Edit{{Op: Add, Path: Join("mcp.servers", name)}}
	}
	data, err := f.edit(c.data, edits)
	if err != nil {
		return services.Spec{}, err
	}
	c.data = data
	s, _ := f.load(c)
	for _, d := range s.MCP.Definitions {
		if d.Name == name {
			d.Disabled = false
			return d, nil
		}
	}
	return services.Spec{}, &FieldError{Path: Join("mcp.servers", name), Message: fmt.Sprintf("is no server: the name %q cannot be used", name)}
}
