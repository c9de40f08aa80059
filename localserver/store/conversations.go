package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Conversation is one stored chat. Meta is the page's own JSON object; lists
// leave it and Version out.
type Conversation struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	Created  time.Time       `json:"created"`
	Updated  time.Time       `json:"updated"`
	Messages int             `json:"messages"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	Version  int64           `json:"version,omitempty"`
}

// Bounds of what a conversation may carry, in bytes.
const (
	maxTitle = 1024
	maxMeta  = 1 << 20
)

// Patch changes a conversation; nil leaves a part as it is.
type Patch struct {
	Title *string
	Meta  json.RawMessage
}

func (p Patch) check() error {
	if p.Title != nil && (len(*p.Title) > maxTitle || !utf8.ValidString(*p.Title)) {
		return fmt.Errorf("title %w: it is longer than %d bytes or not UTF-8", ErrInvalid, maxTitle)
	}
	if p.Meta != nil && (len(p.Meta) > maxMeta || !isObject(p.Meta)) {
		return fmt.Errorf("meta %w: it must be a JSON object of at most %d bytes", ErrInvalid, maxMeta)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	return json.Valid(raw) && strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{")
}

// CreateConversation starts an empty conversation with version 1.
func (s *Store) CreateConversation(ctx context.Context, title string, meta json.RawMessage) (Conversation, error) {
	if err := (Patch{&title, meta}).check(); err != nil {
		return Conversation{}, err
	}
	if meta == nil {
		meta = json.RawMessage("{}")
	}
	id, now := newID(), s.now()
	err := s.change(ctx, "create a conversation", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, title, meta, version, created, updated) VALUES (?,?,?,1,?,?)`,
			id, title, string(meta), now, now)
		return err
	})
	if err != nil {
		return Conversation{}, err
	}
	return Conversation{ID: id, Title: title, Created: when(now), Updated: when(now), Meta: meta, Version: 1}, nil
}

const conversationColumns = `c.id, c.title, c.meta, c.version, c.created, c.updated, (SELECT count(*) FROM messages m WHERE m.conversation = c.id)`

func scanConversation(row interface{ Scan(...any) error }) (Conversation, error) {
	var c Conversation
	var meta string
	var created, updated int64
	err := row.Scan(&c.ID, &c.Title, &meta, &c.Version, &created, &updated, &c.Messages)
	c.Meta, c.Created, c.Updated = json.RawMessage(meta), when(created), when(updated)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("conversation: %w", ErrNotFound)
	}
	return c, err
}

// Conversation returns one conversation with its meta and version.
func (s *Store) Conversation(ctx context.Context, id string) (Conversation, error) {
	h, err := s.open(ctx)
	if err != nil {
		return Conversation{}, err
	}
	c, err := scanConversation(h.read.QueryRowContext(ctx, `SELECT `+conversationColumns+` FROM conversations c WHERE c.id = ?`, id))
	return c, explain("read a conversation", err)
}

// Conversations lists conversations, the last changed first, at most limit
// (1 to 200; 0 is 50), starting behind the place that before names: "" or the
// next that an earlier list returned. next is "" at the end.
func (s *Store) Conversations(ctx context.Context, before string, limit int) (list []Conversation, next string, err error) {
	h, err := s.open(ctx)
	if err != nil {
		return nil, "", err
	}
	limit = bound(limit, 50, 200)
	at, id := int64(1<<62), ""
	if before != "" {
		ms, rest, ok := strings.Cut(before, "-")
		at, err = strconv.ParseInt(ms, 10, 64)
		if err != nil || !ok {
			return nil, "", fmt.Errorf("before %w: it is not the \"next\" of a list", ErrInvalid)
		}
		id = rest
	}
	rows, err := h.read.QueryContext(ctx, `SELECT `+conversationColumns+` FROM conversations c
		WHERE (c.updated, c.id) < (?, ?) ORDER BY c.updated DESC, c.id DESC LIMIT ?`, at, id, limit+1)
	if err != nil {
		return nil, "", explain("list conversations", err)
	}
	defer rows.Close()
	list = []Conversation{}
	for rows.Next() {
		c, err := scanConversation(rows)
		if err != nil {
			return nil, "", explain("list conversations", err)
		}
		c.Meta, c.Version = nil, 0
		list = append(list, c)
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		next = strconv.FormatInt(last.Updated.UnixMilli(), 10) + "-" + last.ID
	}
	return list, next, explain("list conversations", rows.Err())
}

// UpdateConversation changes title or meta. It is no change of the messages,
// so the version stays.
func (s *Store) UpdateConversation(ctx context.Context, id string, p Patch) (Conversation, error) {
	if err := p.check(); err != nil {
		return Conversation{}, err
	}
	var c Conversation
	err := s.change(ctx, "change a conversation", func(tx *sql.Tx) error {
		var meta *string
		if p.Meta != nil {
			m := string(p.Meta)
			meta = &m
		}
		_, err := tx.ExecContext(ctx, `UPDATE conversations SET title = coalesce(?, title), meta = coalesce(?, meta), updated = ? WHERE id = ?`,
			p.Title, meta, s.now(), id)
		if err != nil {
			return err
		}
		c, err = scanConversation(tx.QueryRowContext(ctx, `SELECT `+conversationColumns+` FROM conversations c WHERE c.id = ?`, id))
		return err
	})
	return c, err
}

// DeleteConversation removes a conversation with its messages, calls and
// stored results. A call of it that is still under way leaves nothing behind:
// from here on nothing more is stored for it.
func (s *Store) DeleteConversation(ctx context.Context, id string) error {
	var objects []string
	marked := false
	err := s.change(ctx, "delete a conversation", func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(fmt.Errorf("conversation: %w", ErrNotFound), err)
		}
		if objects, err = deleteObjects(ctx, tx, `owner = ?`, id); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `DELETE FROM calls WHERE conversation = ?`, id); err != nil {
			return err
		}
		// Writers come one after the other: who waits for this one sees it.
		_, known := s.gone.LoadOrStore(id, true)
		marked = !known
		return nil
	})
	if err != nil {
		if marked {
			s.gone.Delete(id)
		}
		return err
	}
	s.removeFiles(objects)
	return nil
}

// deleted reports whether a conversation was deleted in this run.
func (s *Store) deleted(conversation string) bool {
	_, gone := s.gone.Load(conversation)
	return gone
}

// bound returns n within 1 and most, def for 0 and less.
func bound(n, def, most int) int {
	if n <= 0 {
		n = def
	}
	return min(n, most)
}
