package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MaxBytes bounds config.toml. A longer file is not read.
const MaxBytes = 2 << 20

// FileName is the configuration inside the state folder.
const FileName = "config.toml"

// content is what stands on the disk at one moment.
type content struct {
	target   string      // config.toml with links followed
	data     []byte      // nil when there is none
	info     os.FileInfo // of target; nil when there is none
	problem  *Problem    // not nil: it cannot be read at all
	warnings []Problem
}

// version names the bytes.
func (c content) version() string {
	if c.info == nil && c.problem == nil {
		return "none"
	}
	sum := sha256.Sum256(c.data)
	return hex.EncodeToString(sum[:12])
}

// readContent reads the file without waiting on a pipe and without reading
// more than MaxBytes. What is wrong is in the result.
func readContent(path string) content {
	c := content{target: path}
	fail := func(format string, args ...any) content {
		c.data = nil
		c.problem = &Problem{Code: CodeUnreadable, Severity: SevereError, File: path, Message: fmt.Sprintf(format, args...)}
		return c
	}
	target, err := followLinks(path)
	if err != nil {
		return fail("cannot be found: %v; repair or remove the link", err)
	}
	c.target = target
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return c
	}
	if err != nil {
		return fail("cannot be read: %v", err)
	}
	c.info = info
	switch {
	case info.IsDir():
		return fail("is a folder, not a file; move it away")
	case !info.Mode().IsRegular():
		return fail("is no regular file; move it away")
	case info.Size() > MaxBytes:
		return fail("has %d bytes; the limit is %d. Take out what does not belong there", info.Size(), MaxBytes)
	}
	// A pipe put there meanwhile must not hang the companion.
	f, err := os.OpenFile(target, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fail("cannot be read: %v; give yourself access to it", err)
	}
	defer f.Close()
	if c.info, err = f.Stat(); err != nil || !c.info.Mode().IsRegular() {
		return fail("cannot be read: it changed while it was opened")
	}
	if c.data, err = io.ReadAll(io.LimitReader(f, MaxBytes+1)); err != nil {
		return fail("cannot be read: %v", err)
	}
	if len(c.data) > MaxBytes {
		return fail("has more than %d bytes, the limit. Take out what does not belong there", MaxBytes)
	}
	if message := looseFile(c.info); message != "" {
		c.warnings = append(c.warnings, Problem{Code: CodeFileMode, Severity: SevereWarning, File: path, Message: message})
	}
	return c
}

// followLinks resolves path to the file that its links end at, which need not
// exist.
func followLinks(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", errors.New("its links lead in a circle")
}
