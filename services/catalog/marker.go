package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"zeroclaw/services"
	"zeroclaw/tools/atomicfile"
)

// markerName is the file in a service's folder that is written last: with it,
// and only with it, the service is installed.
const markerName = ".installed.json"

// marker says what was installed.
type marker struct {
	Type     string            `json:"type"`
	Packages map[string]string `json:"packages"`
	// Lock is the SHA-256 of the lock file (npm).
	Lock string `json:"lock,omitempty"`
	// With is the program that it was installed with, and its version.
	With string    `json:"with"`
	Time time.Time `json:"time"`
}

func (m marker) fits(in *services.Installer) bool {
	return m.Type == in.Type && maps.Equal(m.Packages, in.Packages)
}

// readMarker returns the marker of a folder; ok is false when there is none
// that can be read.
func readMarker(dir string) (m marker, ok bool) {
	data, err := atomicfile.Read(filepath.Join(dir, markerName), maxSmall)
	return m, err == nil && json.Unmarshal(data, &m) == nil
}

func writeMarker(root *os.Root, m marker) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(root, markerName, append(data, '\n'))
}

func writeFile(root *os.Root, name string, data []byte) error {
	_, err := atomicfile.WriteIn(root, name, bytes.NewReader(data), atomicfile.Options{Mode: 0o600})
	return err
}

// maxSmall bounds the files that are read whole: lock files have up to a few
// MiB.
const maxSmall = 16 << 20

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// removed ignores that something is not there.
func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
