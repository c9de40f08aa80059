package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"

	"zeroclaw/tools/atomicfile"
)

// Saved is what is kept about one server between two runs of the companion.
type Saved struct {
	Options map[string]any `json:"options,omitempty"`
	// Autostart is the user's choice; nil = as the definition says.
	Autostart *bool `json:"autostart,omitempty"`
	// Launch identifies the definition that a person started last.
	Launch string `json:"launch,omitempty"`
	// Protocol is the MCP revision that was spoken last.
	Protocol string `json:"protocol,omitempty"`
}

func (s Saved) clone() Saved {
	s.Options = maps.Clone(s.Options)
	return s
}

func (s Saved) equal(o Saved) bool { return reflect.DeepEqual(s, o) }

// Store keeps Saved by server name.
type Store interface {
	Load() (map[string]Saved, error)
	Save(map[string]Saved) error
}

// FileStore is a Store in one JSON file, state/service-options.json below the
// state folder. The zero value has no path and cannot be used.
type FileStore struct{ Path string }

// Load reads the file; one that does not exist is empty.
func (f FileStore) Load() (map[string]Saved, error) {
	data, err := readSmall(f.Path)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]Saved{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path, err)
	}
	saved := map[string]Saved{}
	if err := json.Unmarshal(data, &saved); err != nil {
		return nil, fmt.Errorf("reading %s: %w: repair or delete it; until then service settings are not saved", f.Path, err)
	}
	return saved, nil
}

// Save writes the file as a whole.
func (f FileStore) Save(saved map[string]Saved) error {
	data, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.Path, append(data, '\n'), atomicfile.Options{Mode: 0o600})
}
