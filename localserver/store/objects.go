package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"zeroclaw/tools/atomicfile"
)

// Object is a stored result: what was too big for a model, or media.
type Object struct {
	ID      string    `json:"id"`
	Owner   string    `json:"owner"` // as in tools.Call.Owner: a conversation, else a session
	MIME    string    `json:"mime"`
	Size    int64     `json:"size"`
	Created time.Time `json:"created"`
}

// ObjectPage is a part of a stored text. Next is the offset of the part that
// follows, 0 at the end.
type ObjectPage struct {
	ID   string `json:"id"`
	Size int64  `json:"size"`
	MIME string `json:"mime"`
	Text string `json:"text"`
	Next int64  `json:"next,omitempty"`
}

var objectID = regexp.MustCompile(`^[a-z0-9]{26}$`)

func (s *Store) objectPath(id string) string { return filepath.Join(s.c.Dir, "objects", id) }

// Put stores data for an owner (tools.Call.Owner) and returns its id. Nothing
// is stored for a conversation that was deleted: that is ErrNotFound.
func (s *Store) Put(ctx context.Context, owner, mime string, data []byte) (id string, err error) {
	return s.PutFrom(ctx, owner, mime, bytes.NewReader(data))
}

// PutFrom is Put with what r gives, which need not be in memory as a whole. It
// implements results.Objects.
func (s *Store) PutFrom(ctx context.Context, owner, mime string, r io.Reader) (id string, err error) {
	if s.deleted(owner) {
		return "", fmt.Errorf("store a result: conversation: %w", ErrNotFound)
	}
	id = newID()
	dir := filepath.Join(s.c.Dir, "objects")
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", explain("make "+dir, err)
	}
	size, err := atomicfile.WriteFrom(s.objectPath(id), r, atomicfile.Options{Mode: 0o600})
	if err != nil {
		return "", explain("store a result", err)
	}
	var old []string
	err = s.change(ctx, "store a result", func(tx *sql.Tx) error {
		if s.deleted(owner) { // while the file was written
			return fmt.Errorf("store a result: conversation: %w", ErrNotFound)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO objects (id, owner, mime, size, created) VALUES (?,?,?,?,?)`, id, owner, mime, size, s.now())
		if err != nil {
			return err
		}
		// The newest that fit stay; the one just stored always does.
		old, err = deleteObjects(ctx, tx, `id <> ? AND id IN (SELECT id FROM
			(SELECT id, sum(size) OVER (ORDER BY created DESC, id DESC) AS upto FROM objects) WHERE upto > ?)`, id, s.c.MaxObjects)
		return err
	})
	if err != nil {
		s.removeFiles([]string{id})
		return "", err
	}
	s.removeFiles(old)
	return id, nil
}

// deleteObjects takes rows out of the index and returns the ids whose files
// are to go once the transaction holds.
func deleteObjects(ctx context.Context, tx *sql.Tx, where string, args ...any) (ids []string, err error) {
	rows, err := tx.QueryContext(ctx, `DELETE FROM objects WHERE `+where+` RETURNING id`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// removeFiles deletes files that the index no longer knows. One that cannot be
// deleted is only waste.
func (s *Store) removeFiles(ids []string) {
	for _, id := range ids {
		os.Remove(s.objectPath(id))
	}
}

// Open returns a stored result and its file, which the caller closes. It is
// ErrNotFound when it never was, was deleted, or made room for newer ones.
func (s *Store) Open(ctx context.Context, id string) (Object, *os.File, error) {
	gone := fmt.Errorf("result %q: %w", id, ErrNotFound)
	if !objectID.MatchString(id) {
		return Object{}, nil, gone
	}
	h, err := s.open(ctx)
	if err != nil {
		return Object{}, nil, err
	}
	o := Object{ID: id}
	var created int64
	err = h.read.QueryRowContext(ctx, `SELECT owner, mime, size, created FROM objects WHERE id = ?`, id).Scan(&o.Owner, &o.MIME, &o.Size, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return Object{}, nil, gone
	}
	if err != nil {
		return Object{}, nil, explain("read a result", err)
	}
	o.Created = when(created)
	f, err := os.Open(s.objectPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Object{}, nil, gone
	}
	return o, f, explain("read a result", err)
}

// maxRead is how many bytes of a stored text are returned at a time.
const maxRead = 1 << 20

// Result returns a part of a stored text from a byte offset, at most limit
// bytes (0 is 64 KiB, at most 1 MiB), cut where a character ends. What is not
// text is ErrInvalid; use Open for it.
func (s *Store) Result(ctx context.Context, id string, offset, limit int64) (ObjectPage, error) {
	o, f, err := s.Open(ctx, id)
	if err != nil {
		return ObjectPage{}, err
	}
	defer f.Close()
	if !strings.HasPrefix(o.MIME, "text/") {
		return ObjectPage{}, fmt.Errorf("result %q %w as text: it is %s", id, ErrInvalid, o.MIME)
	}
	if offset < 0 || offset > o.Size {
		return ObjectPage{}, fmt.Errorf("offset %w: result %q has %d bytes", ErrInvalid, id, o.Size)
	}
	if limit <= 0 {
		limit = 64 << 10
	}
	buf := make([]byte, min(limit, maxRead, o.Size-offset))
	n, err := f.ReadAt(buf, offset)
	if err != nil && err != io.EOF {
		return ObjectPage{}, explain("read a result", err)
	}
	buf = buf[:n]
	if n > 0 && !utf8.RuneStart(buf[0]) {
		return ObjectPage{}, fmt.Errorf("offset %w: %d is inside a character; use the offset that the part before gave", ErrInvalid, offset)
	}
	p := ObjectPage{ID: id, Size: o.Size, MIME: o.MIME}
	end := n
	if offset+int64(n) < o.Size {
		end = wholeRunes(buf)
	}
	if end == 0 && n > 0 {
		return ObjectPage{}, fmt.Errorf("limit %w: the next character is longer than %d bytes", ErrInvalid, limit)
	}
	p.Text = string(buf[:end])
	if next := offset + int64(end); next < o.Size {
		p.Next = next
	}
	return p, nil
}

// wholeRunes is the length of b without a character that is cut at its end.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				return len(b)
			}
			return i
		}
	}
	return len(b)
}

// Text implements the Stored of tools/meta: Result for one owner only.
func (s *Store) Text(ctx context.Context, owner, id string, offset, limit int64) (text string, total int64, err error) {
	o, f, err := s.Open(ctx, id)
	if err != nil {
		return "", 0, err
	}
	f.Close()
	if o.Owner != owner {
		return "", 0, fmt.Errorf("result %q: %w", id, ErrNotFound)
	}
	p, err := s.Result(ctx, id, offset, limit)
	return p.Text, p.Size, err
}
