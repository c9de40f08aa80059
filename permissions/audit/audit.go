// Package audit is the record of calls: one JSON line for each, with the
// verdict, who answered and what came of it, in files that rotate. It holds no
// file contents and no secrets.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Entry is one call. Lines are in the order in which calls ended.
type Entry struct {
	// Seq numbers the lines from 1 on, through all files; Write gives it. It is
	// the first field so that a reader finds it without decoding the line.
	Seq        uint64           `json:"seq"`
	Time       time.Time        `json:"time"` // start of the call
	Session    string           `json:"session"`
	Agent      string           `json:"agent"`
	Client     string           `json:"client"`        // page, cli, mcp
	App        string           `json:"app,omitempty"` // name of the token of an mcp client
	Call       string           `json:"call_id"`
	Tool       string           `json:"tool"`
	Arguments  json.RawMessage  `json:"arguments"` // long strings shortened
	Verdict    string           `json:"verdict"`
	Row        int              `json:"row"`
	Rule       string           `json:"rule,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	AnsweredBy string           `json:"answered_by,omitempty"`
	Answer     string           `json:"answer,omitempty"`
	Outcome    string           `json:"outcome"`
	DurationMS int64            `json:"duration_ms"`
	Sizes      map[string]int64 `json:"sizes,omitempty"` // arguments, result
}

// Config configures a Log.
type Config struct {
	Failed   func(error)         // told when what Note took could not be written; nil for nobody
	Dir      string              // folder of audit.jsonl and its older parts
	Redact   func(string) string // removes secrets from one text; nil for none
	MaxBytes int64               // size at which a file is rotated; 0 is 8 MiB
	Keep     int                 // how many older parts are kept; 0 is 5
}

// Log appends entries to audit.jsonl.
type Log struct {
	config Config

	mu   sync.Mutex
	file *os.File
	size int64
	last uint64 // Seq of the newest line

	waiting []byte      // lines that are not written yet
	soon    *time.Timer // writes them; nil before the first
	wrote   time.Time   // when something was written last
	closed  bool        // nothing waits any more
}

const (
	name = "audit.jsonl"
	// noteTime is how long a line waits for others, after another was written
	// busyTime ago or less; maxWaiting how many bytes do.
	noteTime   = 10 * time.Millisecond
	busyTime   = 5 * time.Millisecond
	maxWaiting = 64 << 10
	// longestArgument is where a string inside the arguments is cut: the record
	// says what was called, not what was in the file.
	longestArgument = 512
)

// Open returns the log of a folder, which is created at the first entry.
func Open(c Config) *Log {
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 8 << 20
	}
	if c.Keep == 0 {
		c.Keep = 5
	}
	return &Log{config: c}
}

// Write appends one entry, which is in the file when it returns.
func (l *Log) Write(e Entry) error { return l.add(e, false) }

// Note appends one entry as Write does, but while many come it is written
// together with others, up to noteTime later: see Flush.
func (l *Log) Note(e Entry) error { return l.add(e, true) }

func (l *Log) add(e Entry, mayWait bool) error {
	l.redact(&e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	e.Seq = l.last + 1
	first := len(l.waiting) == 0
	lines, err := appendLine(l.waiting, e)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	l.last, l.waiting = e.Seq, lines
	if !mayWait || l.closed || len(l.waiting) > maxWaiting || first && time.Since(l.wrote) > busyTime {
		return l.flush()
	}
	if !first {
		return nil
	}
	if l.soon == nil {
		l.soon = time.AfterFunc(noteTime, l.flushSoon)
	} else {
		l.soon.Reset(noteTime)
	}
	return nil
}

// Flush writes what waits.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}

func (l *Log) flushSoon() {
	if err := l.Flush(); err != nil && l.config.Failed != nil {
		l.config.Failed(err)
	}
}

// flush writes what waits, in one piece.
func (l *Log) flush() error {
	if len(l.waiting) == 0 {
		return nil
	}
	line := l.waiting
	l.waiting = l.waiting[:0]
	if cap(l.waiting) > 2*maxWaiting {
		l.waiting = nil
	}
	if err := l.open(); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	var unrotated error
	if l.size > 0 && l.size+int64(len(line)) > l.config.MaxBytes {
		// The line matters more than the size of the file it ends up in.
		unrotated = l.rotate()
		if err := l.open(); err != nil {
			return fmt.Errorf("write the audit log: %w", errors.Join(err, unrotated))
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	l.wrote = time.Now()
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	if unrotated != nil {
		return fmt.Errorf("rotate the audit log, which goes on growing: %w", unrotated)
	}
	return nil
}

// Close writes what waits and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	err := l.flush()
	if l.file == nil {
		return err
	}
	err = errors.Join(err, l.file.Close())
	l.file = nil
	return err
}

func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	if err := os.MkdirAll(l.config.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.part(0), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	if l.last == 0 {
		if l.last, err = l.newest(); err != nil {
			f.Close()
			return err
		}
	}
	l.file, l.size = f, info.Size()
	// A line that a crash cut short must not swallow the next one.
	if last := make([]byte, 1); l.size > 0 {
		if _, err := f.ReadAt(last, l.size-1); err == nil && last[0] != '\n' {
			n, _ := f.Write([]byte{'\n'})
			l.size += int64(n)
		}
	}
	return nil
}

// rotate makes room for a new file; it leaves the log closed.
func (l *Log) rotate() error {
	if err := l.file.Close(); err != nil {
		return err
	}
	l.file = nil
	for i := l.config.Keep - 1; i >= 0; i-- {
		if err := os.Rename(l.part(i), l.part(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// part is the path of the i-th file, 0 being the current one.
func (l *Log) part(i int) string {
	if i == 0 {
		return filepath.Join(l.config.Dir, name)
	}
	return filepath.Join(l.config.Dir, fmt.Sprintf("audit.%d.jsonl", i))
}
