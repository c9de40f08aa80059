package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"zeroclaw/tools"
)

// Config of a Store. Dir is required.
type Config struct {
	// Dir is the state folder: zeroclaw.db and objects/ are in it. It must
	// exist.
	Dir string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// MaxObjects is how many bytes of stored results are kept, the oldest
	// going first; 0 is 1 GiB.
	MaxObjects int64
	// Interrupted is told of each call that a crash of an earlier run cut off,
	// when the database is first used. It must not use the store. nil: nobody
	// is told.
	Interrupted func(tools.Call, tools.Outcome)
}

// Store is the database. Make one with New; it opens its file when it is first
// used. It is safe for concurrent use.
type Store struct {
	c Config

	mu      sync.Mutex
	db      *handles
	problem string
	closed  bool

	gone sync.Map // ids of conversations deleted in this run
}

// handles are the one connection that writes and those that read.
type handles struct{ write, read *sql.DB }

// New returns a Store without touching the disk.
func New(c Config) *Store {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxObjects <= 0 {
		c.MaxObjects = 1 << 30
	}
	return &Store{c: c}
}

const (
	dbName = "zeroclaw.db"
	week   = 7 * 24 * time.Hour
)

// Problem is what a person should know about the database ("" if nothing): a
// damaged one was moved aside. It is known once the store was first used.
func (s *Store) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Close writes everything into the one file and closes it. A store that was
// never used is closed at once.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.db == nil {
		return nil
	}
	err := errors.Join(s.db.read.Close(), s.db.write.Close())
	s.db = nil
	if err != nil {
		return fmt.Errorf("close %s: %w", dbName, err)
	}
	return nil
}

// open returns the database, opening it when this is the first use.
func (s *Store) open(ctx context.Context) (*handles, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("%w: the companion is ending", ErrUnavailable)
	}
	if s.db != nil {
		return s.db, nil
	}
	// What one request starts, others use: its end must not stop it.
	ctx = context.WithoutCancel(ctx)
	path := filepath.Join(s.c.Dir, dbName)
	h, err := openFile(ctx, path)
	if damaged(err) {
		aside := path + ".damaged-" + s.c.Now().UTC().Format("20060102-150405")
		if err := moveAside(path, aside); err != nil {
			return nil, fmt.Errorf("%w: %s is damaged and cannot be moved aside: %w", ErrUnavailable, path, err)
		}
		s.problem = fmt.Sprintf("the file of your conversations was damaged (%s); it was kept as %s and a new one was started", short(err), aside)
		h, err = openFile(ctx, path)
	}
	if err != nil {
		return nil, explain("open "+path, err)
	}
	if err := s.tidy(ctx, h.write); err != nil {
		h.read.Close()
		h.write.Close()
		return nil, err
	}
	s.db = h
	return h, nil
}

// tidy ends the calls that a crash interrupted. What belongs to no
// conversation (command line, other programs) is kept a week.
func (s *Store) tidy(ctx context.Context, db *sql.DB) error {
	now := s.c.Now()
	old := now.Add(-week).UnixMilli()
	const none = ` NOT IN (SELECT id FROM conversations)`
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explain("mark interrupted calls", err)
	}
	defer tx.Rollback()
	cut, err := interrupt(ctx, tx, now.UnixMilli())
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM calls WHERE ended < ? AND conversation`+none, old)
	}
	var results []string
	if err == nil {
		results, err = deleteObjects(ctx, tx, `created < ? AND owner`+none, old)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return explain("mark interrupted calls", err)
	}
	s.removeFiles(results)
	if s.c.Interrupted != nil {
		for _, c := range cut {
			s.c.Interrupted(c.call, c.outcome)
		}
	}
	return nil
}

// openFile opens and migrates the file, creating it for the user only.
func openFile(ctx context.Context, path string) (*handles, error) {
	if err := private(path); err != nil {
		return nil, err
	}
	write, err := connect(path, "&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := prepare(ctx, write); err != nil {
		write.Close()
		return nil, err
	}
	read, err := connect(path, "&_pragma=query_only(1)")
	if err != nil {
		write.Close()
		return nil, err
	}
	read.SetMaxOpenConns(4)
	read.SetConnMaxIdleTime(time.Minute)
	return &handles{write, read}, nil
}

func connect(path, more string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if runtime.GOOS == "windows" {
		u.Path = "/" + u.Path
	}
	// WAL with synchronous NORMAL survives our own death whole; only a power
	// cut may lose the last transactions, never tear one.
	return sql.Open("sqlite", u.String()+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"+
		"&_pragma=foreign_keys(1)&_pragma=secure_delete(1)&_pragma=trusted_schema(0)"+more)
}

// private makes the file exist with mode 0600 before SQLite sees it; its
// side files get the same mode. A link or folder in its place is refused.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file; move it away", path)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return os.Chmod(path, 0o600)
	}
	return nil
}

// smallEnough bounds the database that is checked whole at each start, bytes.
const smallEnough = 64 << 20

// prepare checks the file and brings it to the newest schema.
func prepare(ctx context.Context, db *sql.DB) error {
	var pages, size int64
	if err := db.QueryRowContext(ctx, `SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`).Scan(&pages, &size); err != nil {
		return err
	}
	if pages*size <= smallEnough {
		var verdict string
		if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
			return err
		}
		if verdict != "ok" {
			return &damage{verdict}
		}
	}
	var version int
	if err := db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("it was made by a newer version of zeroclaw; update this one")
	}
	for ; version < len(migrations); version++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, migrations[version]+fmt.Sprintf("; PRAGMA user_version=%d", version+1))
		if err != nil {
			tx.Rollback()
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// moveAside renames the file and its side files.
func moveAside(path, aside string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, aside)
}

// change runs f in the one write transaction.
func (s *Store) change(ctx context.Context, what string, f func(tx *sql.Tx) error) error {
	h, err := s.open(ctx)
	if err != nil {
		return err
	}
	tx, err := h.write.BeginTx(ctx, nil)
	if err != nil {
		return explain(what, err)
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return explain(what, err)
	}
	return explain(what, tx.Commit())
}

// newID makes an id that cannot be guessed: 26 letters and digits.
func newID() string { return strings.ToLower(rand.Text()) }

func (s *Store) now() int64 { return s.c.Now().UnixMilli() }

func when(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

var _ io.Closer = (*Store)(nil)
