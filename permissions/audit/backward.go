package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// chunk is how much of a file is read at a time, in bytes.
const chunk = 64 << 10

// backward reads the lines of a file from its end, a chunk at a time: a page
// of the newest entries costs the same however long the file is.
type backward struct {
	file *os.File
	at   int64  // where what was read so far begins
	buf  []byte // read, and not returned yet
	done bool
}

// newBackward reads what the file holds now. The caller closes the file.
func newBackward(f *os.File) (*backward, error) {
	end, err := f.Seek(0, io.SeekEnd)
	return &backward{file: f, at: end}, err
}

// next returns the line before the one it returned last, without its line
// break, and io.EOF after the first line of the file. The line is valid until
// the next call.
func (b *backward) next() ([]byte, error) {
	if b.done {
		return nil, io.EOF
	}
	// Only what is new is searched, so that one endless line takes linear time.
	for unsearched := len(b.buf); ; {
		if cut := bytes.LastIndexByte(b.buf[:unsearched], '\n'); cut >= 0 {
			line := b.buf[cut+1:]
			b.buf = b.buf[:cut]
			return line, nil
		}
		if b.at == 0 {
			b.done = true
			return b.buf, nil
		}
		n := min(max(chunk, int64(len(b.buf))), b.at)
		grown := make([]byte, n+int64(len(b.buf)))
		if got, err := b.file.ReadAt(grown[:n], b.at-n); err != nil && !(errors.Is(err, io.EOF) && int64(got) == n) {
			return nil, err
		}
		copy(grown[n:], b.buf)
		b.buf, b.at, unsearched = grown, b.at-n, int(n)
	}
}
