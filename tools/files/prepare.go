package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"zeroclaw/permissions"
)

// change is an edit worked out against the file as it is, not yet made.
type change struct {
	call   editCall
	path   permissions.Path
	file   *os.File    // the file as it was; nil when it does not exist
	info   os.FileInfo // of file
	was    survey
	pieces []piece
}

func (c *change) close() {
	if c.file != nil {
		c.file.Close()
	}
}

// reader gives the old content; an empty one for a file that does not exist.
func (c *change) reader() io.ReaderAt {
	if c.file == nil {
		return strings.NewReader("")
	}
	return c.file
}

// refusal is an edit that was not made, with facts for the caller.
type refusal struct {
	code    string
	message string
	facts   map[string]any
}

func (r *refusal) Error() string { return r.message }

// prepare reads the file and works out what would change. Everything read is
// also written to keep, if that is not nil.
func (c editCall) prepare(ctx context.Context, p permissions.Path, keep io.Writer) (*change, error) {
	ch := &change{call: c, path: p, was: survey{last: "\n"}}
	name := permissions.Visible(p.Real)
	if p.Kind == permissions.KindNone {
		if c.mode == "replace" {
			return nil, missing(p, "file")
		}
		if c.expect != "" {
			return nil, &refusal{"changed", fmt.Sprintf("%s does not exist any more, so it is not what expect_hash names; nothing was written", name), nil}
		}
	} else {
		var err error
		if ch.file, ch.info, err = openFile(p); err != nil {
			return nil, err
		}
	}
	if err := ch.examine(ctx, name, keep); err != nil {
		ch.close()
		return nil, err
	}
	return ch, nil
}

func (c *change) examine(ctx context.Context, name string, keep io.Writer) error {
	if c.file != nil {
		if c.info.Mode().Perm()&0o222 == 0 {
			return &refusal{"read_only", fmt.Sprintf("%s is read-only (mode %04o); nothing was changed", name, c.info.Mode().Perm()), nil}
		}
		if c.info.Size() > maxEditSize {
			return &refusal{"too_large", fmt.Sprintf("%s has %s; files up to 2 GiB are edited, use a command for larger ones", name, plural(c.info.Size(), "byte", "bytes")), nil}
		}
		var err error
		if c.was, err = takeSurvey(ctx, c.file, c.info.Size(), keep); err != nil {
			return fmt.Errorf("reading %s: %w", name, cause(err))
		}
	}
	if e := c.call.expect; e != "" && e != c.was.hash {
		return &refusal{"changed", fmt.Sprintf("%s has changed since it was read; nothing was written, read it again", name), map[string]any{"hash": c.was.hash}}
	}
	if c.was.binary {
		if c.call.mode != "write" {
			return &refusal{"binary", fmt.Sprintf("%s is not text (%s), so it cannot be edited as text; nothing was changed", name, plural(c.was.size, "byte", "bytes")), nil}
		}
		c.was = survey{size: c.was.size, hash: c.was.hash, last: "\n"}
	}
	var err error
	c.pieces, err = c.call.plan(ctx, c.reader(), c.was)
	var m *mismatch
	switch {
	case errors.As(err, &m):
		code := "several_matches"
		if m.count == 0 {
			code = "no_match"
		}
		return &refusal{code, fmt.Sprintf("%s: %s", name, m.Error()), map[string]any{"matches": m.count, "lines": m.lines}}
	case errors.Is(err, errSame):
		return &refusal{"no_change", fmt.Sprintf("%s: %v", name, err), nil}
	case err != nil:
		return fmt.Errorf("%s: %w", name, cause(err))
	}
	return nil
}
