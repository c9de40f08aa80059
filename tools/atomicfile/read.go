package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLong is returned, wrapped, for a file that is longer than is taken.
var ErrTooLong = errors.New("too long")

// Read returns the content of a regular file of at most limit bytes; a longer
// one is ErrTooLong. Anything else in its place (a FIFO would make a plain read
// wait for ever) is ErrNotRegular. Both are wrapped.
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
		err = fmt.Errorf("read %s: %w: it has more than %d bytes", path, ErrTooLong, limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
