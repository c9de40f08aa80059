package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Bounds of what the bridge takes at once, in bytes. An answer that escapes
// most of what a server sent is several times as long as that.
const (
	maxLine   = 16 << 20  // of the client
	maxAnswer = 128 << 20 // of the companion
)

var errTooLong = errors.New("it is too long")

// nextLine returns the next line without its end, in memory of its own. A line
// of more than limit bytes is read to its end and told as errTooLong. What
// follows the last line end is a line as well.
func nextLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit+2 {
			line, long = nil, true
		}
		if !long {
			if cap(line)-len(line) < len(part) {
				line = slices.Grow(line, max(len(part), len(line)))
			}
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && (err != io.EOF || len(line) == 0 && !long):
			return nil, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if long || len(line) > limit {
			return nil, fmt.Errorf("%w: more than %d MiB", errTooLong, limit>>20)
		}
		return line, nil
	}
}

// eventReader reads the data of server-sent events, and how the stream can be
// taken up again where it ended.
type eventReader struct {
	in    *bufio.Reader
	last  string        // id of the last event that had one
	retry time.Duration // how long to wait before that, 0 if nothing was said
}

// maxRetry bounds how long a companion may make the bridge wait.
const maxRetry = 30 * time.Second

// next is the data of the next event that has some.
func (r *eventReader) next() ([]byte, error) {
	var data []byte
	for {
		line, err := nextLine(r.in, maxAnswer)
		if err != nil {
			return nil, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if len(data) > 0 {
				return data, nil
			}
		case string(name) == "data" && data == nil:
			data = value
		case string(name) == "data":
			if len(data)+len(value) > maxAnswer {
				return nil, fmt.Errorf("%w: an event of more than %d MiB", errTooLong, maxAnswer>>20)
			}
			data = append(append(data, '\n'), value...)
		case string(name) == "id" && bytes.IndexByte(value, 0) < 0:
			r.last = string(value)
		case string(name) == "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.retry = min(time.Duration(ms)*time.Millisecond, maxRetry)
			}
		}
	}
}
