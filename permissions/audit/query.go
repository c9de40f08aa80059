package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Filter selects entries. Empty fields select everything.
type Filter struct {
	Text    string    // somewhere in the line, without regard to case
	Tool    string    // exact full name
	Outcome string    // exact
	Before  time.Time // older than this
	Limit   int       // at most this many; 0 is 100
}

// Query returns matching entries, newest first, and whether there are more.
// Lines that are not entries are skipped.
func (l *Log) Query(f Filter) (entries []Entry, more bool, err error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	text := []byte(strings.ToLower(f.Text))
	for i := 0; i <= l.config.Keep; i++ {
		data, err := os.ReadFile(l.part(i))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return entries, false, fmt.Errorf("read the audit log: %w", err)
		}
		for len(data) > 0 {
			data = bytes.TrimSuffix(data, []byte{'\n'})
			cut := bytes.LastIndexByte(data, '\n')
			line := data[cut+1:]
			data = data[:max(cut, 0)]
			if len(text) > 0 && !bytes.Contains(bytes.ToLower(line), text) {
				continue
			}
			var e Entry
			if json.Unmarshal(line, &e) != nil || e.Time.IsZero() {
				continue
			}
			if f.Tool != "" && e.Tool != f.Tool || f.Outcome != "" && e.Outcome != f.Outcome ||
				!f.Before.IsZero() && !e.Time.Before(f.Before) {
				continue
			}
			if len(entries) == f.Limit {
				return entries, true, nil
			}
			entries = append(entries, e)
		}
	}
	return entries, false, nil
}
