package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// ReadJSON decodes a file of at most limit bytes into v. Where there is no
// file, found is false and v stays as it is.
func ReadJSON(path string, limit int64, v any) (found bool, err error) {
	data, err := Read(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return true, fmt.Errorf("read %s: %w", path, err)
	}
	return true, nil
}

// WriteJSON replaces a file by v as one line of JSON, for the user alone.
func WriteJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return Write(path, append(data, '\n'), Options{Mode: 0o600, ForceMode: true})
}
