package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"zeroclaw/services"
)

// Draft is what the definition of a server would be with changes that are not
// saved: the fields of mcp.servers by name, a JSON decoder's values. The server
// need not exist. env and headers may leave out secrets that the file has; they
// come along only to the program or the origin that they were stored for. The
// error is a *FieldError.
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
	before := f.Current().MCP.Definitions
	for _, d := range s.MCP.Definitions {
		if d.Name != name {
			continue
		}
		d.Disabled = false
		i := slices.IndexFunc(before, func(b services.Spec) bool { return b.Name == name })
		if i < 0 || sameTarget(before[i], d) {
			return d, nil
		}
		return withoutStored(d, fields), nil
	}
	return services.Spec{}, &FieldError{Path: Join("mcp.servers", name), Message: fmt.Sprintf("is no server: the name %q cannot be used", name)}
}

// sameTarget reports whether two definitions start the same program or reach the
// same origin.
func sameTarget(a, b services.Spec) bool {
	if a.Transport != b.Transport {
		return false
	}
	if b.Transport == services.TransportStdio {
		return a.Command == b.Command && slices.Equal(a.Args, b.Args) && a.Cwd == b.Cwd
	}
	u, err := url.Parse(a.URL)
	v, err2 := url.Parse(b.URL)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && u.Host == v.Host
}

// withoutStored takes every secret out that the caller did not give. d is
// nobody else's.
func withoutStored(d services.Spec, fields map[string]any) services.Spec {
	env, _ := fields["env"].(map[string]any)
	d.Env = slices.DeleteFunc(d.Env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, given := env[name]
		return !given
	})
	headers, _ := fields["headers"].(map[string]any)
	maps.DeleteFunc(d.Headers, func(name, _ string) bool {
		_, given := headers[name]
		return !given
	})
	return d
}
