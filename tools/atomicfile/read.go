package atomicfile

import (
	"fmt"
	"io"
	"os"
)

// Read returns the content of a regular file of at most limit bytes. Anything
// else in its place (a FIFO would make a plain read wait for ever) is
// ErrNotRegular, wrapped.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", path, ErrNotRegular)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("read %s: it is longer than %d bytes", path, limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
