package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Message is one entry of a conversation. Seq is its place, from 1 without
// gaps; ID is the page's own; Data is an object that only the page reads.
type Message struct {
	Seq     int64           `json:"seq"`
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Created time.Time       `json:"created"`
	Data    json.RawMessage `json:"data"`
}

// Page is a run of messages, oldest first. More says that older ones exist.
type Page struct {
	Version  int64     `json:"version"`
	Messages []Message `json:"messages"`
	More     bool      `json:"more"`
}

var roles = []string{"user", "assistant", "tool", "call"}

// Messages returns the newest messages before place before (0: from the end),
// at most limit (0 is 200, at most 1000).
func (s *Store) Messages(ctx context.Context, conversation string, before int64, limit int) (Page, error) {
	h, err := s.open(ctx)
	if err != nil {
		return Page{}, err
	}
	if before <= 0 {
		before = 1 << 62
	}
	limit = bound(limit, 200, 1000)
	// One read transaction: the version belongs to these messages.
	tx, err := h.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Page{}, explain("read messages", err)
	}
	defer tx.Rollback()
	p := Page{Messages: []Message{}}
	if p.Version, err = version(ctx, tx, conversation); err != nil {
		return Page{}, explain("read messages", err)
	}
	rows, err := tx.QueryContext(ctx, `SELECT seq, id, role, created, data FROM messages
		WHERE conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?`, conversation, before, limit+1)
	if err != nil {
		return Page{}, explain("read messages", err)
	}
	defer rows.Close()
	for rows.Next() {
		var m Message
		var created int64
		var data string
		if err := rows.Scan(&m.Seq, &m.ID, &m.Role, &created, &data); err != nil {
			return Page{}, explain("read messages", err)
		}
		m.Created, m.Data = when(created), json.RawMessage(data)
		p.Messages = append(p.Messages, m)
	}
	if err := rows.Err(); err != nil {
		return Page{}, explain("read messages", err)
	}
	if len(p.Messages) > limit {
		p.Messages, p.More = p.Messages[:limit], true
	}
	slices.Reverse(p.Messages)
	return p, nil
}

func version(ctx context.Context, tx *sql.Tx, conversation string) (int64, error) {
	var v int64
	err := tx.QueryRowContext(ctx, `SELECT version FROM conversations WHERE id = ?`, conversation).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("conversation: %w", ErrNotFound)
	}
	return v, err
}

// Append puts messages behind place after (0: at the beginning) and removes
// what was there behind it, so that editing and regenerating are one step.
// known is the version the caller has; ErrChanged when the conversation has
// another one or ends before after. Seq and a zero Created are set here. It
// returns the new version and the places of the new messages. All or nothing.
func (s *Store) Append(ctx context.Context, conversation string, known, after int64, messages []Message) (newVersion int64, seqs []int64, err error) {
	for i, m := range messages {
		switch {
		case !slices.Contains(roles, m.Role):
			return 0, nil, fmt.Errorf("messages[%d].role %w: it must be one of %q", i, ErrInvalid, roles)
		case len(m.ID) > 128:
			return 0, nil, fmt.Errorf("messages[%d].id %w: it is longer than 128 bytes", i, ErrInvalid)
		case !isObject(m.Data):
			return 0, nil, fmt.Errorf("messages[%d].data %w: it must be a JSON object", i, ErrInvalid)
		}
	}
	seqs = make([]int64, 0, len(messages))
	err = s.change(ctx, "save messages", func(tx *sql.Tx) error {
		have, err := version(ctx, tx, conversation)
		if err != nil {
			return err
		}
		var last int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM messages WHERE conversation = ?`, conversation).Scan(&last); err != nil {
			return err
		}
		if have != known || after < 0 || after > last {
			return fmt.Errorf("conversation: %w", ErrChanged)
		}
		if after < last {
			if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE conversation = ? AND seq > ?`, conversation, after); err != nil {
				return err
			}
		}
		insert, err := tx.PrepareContext(ctx, `INSERT INTO messages (conversation, seq, id, role, created, data, words) VALUES (?,?,?,?,?,?,?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		now := s.now()
		for i, m := range messages {
			seq, created := after+1+int64(i), now
			if !m.Created.IsZero() {
				created = m.Created.UnixMilli()
			}
			if _, err := insert.ExecContext(ctx, conversation, seq, m.ID, m.Role, created, string(m.Data), words(m.Data)); err != nil {
				return err
			}
			seqs = append(seqs, seq)
		}
		newVersion = have + 1
		_, err = tx.ExecContext(ctx, `UPDATE conversations SET version = ?, updated = ? WHERE id = ?`, newVersion, now, conversation)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return newVersion, seqs, nil
}
