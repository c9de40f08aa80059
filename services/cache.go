package services

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"zeroclaw/tools/atomicfile"
)

// Cache keeps Remembered by server name between two runs.
type Cache interface {
	Load() (map[string]Remembered, error)
	Save(map[string]Remembered) error
}

// Remembered is what was last known of a server, so that its tools can be
// listed while it does not run.
type Remembered struct {
	// Source identifies the command or URL that it is about.
	Source string    `json:"source"`
	Seen   time.Time `json:"seen"`
	// Tools are the definitions as received. TooBig: they are not kept.
	Tools  []json.RawMessage `json:"tools,omitempty"`
	TooBig bool              `json:"too_big,omitempty"`

	Protocol      string `json:"protocol,omitempty"`
	ServerName    string `json:"server_name,omitempty"`
	ServerVersion string `json:"server_version,omitempty"`
	Instructions  string `json:"instructions,omitempty"`
	// Discoveries are the newest first.
	Discoveries []Discovery `json:"discoveries,omitempty"`
}

// Bounds of what is remembered.
const (
	maxCache        = 16 << 20 // bytes of the whole file
	maxRemembered   = 4 << 20  // bytes of one server in it
	maxTools        = maxRemembered - maxHistorySize - maxInstructions - 64<<10
	maxInstructions = 16 << 10
)

// FileCache is a Cache in one JSON file, state/catalogue.json below the
// state folder. The zero value has no path and cannot be used.
type FileCache struct{ Path string }

// Load reads the file; one that does not exist is empty. One that cannot be
// used is begun anew by the next Save: it holds nothing that is not found again.
func (f FileCache) Load() (map[string]Remembered, error) {
	data, err := atomicfile.Read(f.Path, maxCache)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Remembered{}, nil
	}
	all := map[string]Remembered{}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the remembered tools in %s: %w: they are listed anew as servers start", f.Path, err)
	}
	return all, nil
}

// Save writes the file as a whole. What is too big for it is left out: the
// tools of a server above 4 MiB, and above 16 MiB those that were seen longest
// ago.
func (f FileCache) Save(all map[string]Remembered) error {
	data, err := encodeCache(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.Path, data, atomicfile.Options{Mode: 0o600, ForceMode: true})
}

func encodeCache(all map[string]Remembered) ([]byte, error) {
	names := sortedKeys(all)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(all[b].Seen.UnixNano(), all[a].Seen.UnixNano()) })
	out := []byte{'{'}
	for _, name := range names {
		one := all[name]
		entry, err := encodeEntry(name, one)
		if err == nil && len(entry) > maxRemembered {
			one.Tools, one.TooBig = nil, true
			entry, err = encodeEntry(name, one)
		}
		if err != nil {
			return nil, fmt.Errorf("remembering the tools of %s: %w", name, err)
		}
		if len(entry) > maxRemembered || len(out)+len(entry)+4 > maxCache {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',', '\n')
		}
		out = append(out, entry...)
	}
	return append(out, '}', '\n'), nil
}

// encodeEntry is `"name":{…}`; nothing in a definition is escaped anew.
func encodeEntry(name string, r Remembered) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(name); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - 1)
	b.WriteByte(':')
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
