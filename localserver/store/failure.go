package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"modernc.org/sqlite"
)

// Errors that callers branch on.
var (
	// ErrNotFound: no such conversation, message or result.
	ErrNotFound = errors.New("it does not exist or was deleted")
	// ErrChanged: the version or position that the caller knows is old; load
	// the conversation again. Nothing was saved.
	ErrChanged = errors.New("it was changed meanwhile; load it again")
	// ErrInvalid: the caller sent something that cannot be stored.
	ErrInvalid = errors.New("cannot be stored")
	// ErrUnavailable: the database cannot be used now (disk full, read-only,
	// made by a newer version); the text says which and what to do.
	ErrUnavailable = errors.New("conversations cannot be stored now")
)

// damage is what PRAGMA quick_check found.
type damage struct{ verdict string }

func (d *damage) Error() string { return d.verdict }

// SQLite's primary result codes (sqlite.org/rescode.html).
const (
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func damaged(err error) bool {
	var d *damage
	c := code(err)
	return errors.As(err, &d) || c == codeCorrupt || c == codeNotADB
}

// explain turns an error of SQLite or the file system into one that a person
// can act on. Errors of this package pass.
func explain(what string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrChanged) || errors.Is(err, ErrInvalid) ||
		errors.Is(err, ErrUnavailable) || errors.Is(err, context.Canceled) {
		return err
	}
	why := ""
	switch code(err) {
	case codeFull:
		why = "the disk is full; free some space"
	case codeReadOnly:
		why = "the file or its folder is read-only; allow writing to it"
	case codeCantOpen:
		why = "the file cannot be opened; check the folder and its permissions"
	case codeIOErr:
		why = "the disk reports an error or is full"
	case codeCorrupt, codeNotADB:
		why = "the file is damaged; restart the companion, which will keep a copy and start a new one"
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		why = "the folder does not allow it; check its permissions"
	case errors.Is(err, fs.ErrNotExist):
		why = "the folder does not exist"
	}
	if why == "" {
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
	}
	return fmt.Errorf("%w: %s: %s (%w)", ErrUnavailable, what, why, err)
}

func short(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
