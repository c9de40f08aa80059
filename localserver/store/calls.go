package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"zeroclaw/tools"
)

// maxOutcome is how many bytes of a call's result are kept with the call; of a
// larger one the content is left out and Partial is set.
const maxOutcome = 1 << 20

// RecordedCall is a call as the companion recorded it itself.
type RecordedCall struct {
	tools.Outcome
	Session   string          `json:"session"`
	Arguments json.RawMessage `json:"arguments"`
}

// CallStarted records that a call began. It is to be called before the tool
// runs: what has a start and no end when the database is next opened was
// interrupted by the death of the companion.
func (s *Store) CallStarted(ctx context.Context, c tools.Call, o tools.Outcome) error {
	return s.record(ctx, "record a call", c, o, nil, `ON CONFLICT (session, id) DO NOTHING`)
}

// CallFinished records how a call ended. The result of a call that was never
// recorded as started is recorded as well.
func (s *Store) CallFinished(ctx context.Context, c tools.Call, o tools.Outcome) error {
	return s.record(ctx, "record the end of a call", c, o, s.now(),
		`ON CONFLICT (session, id) DO UPDATE SET status = excluded.status, ended = excluded.ended, outcome = excluded.outcome`)
}

// CallChanged records whether a call runs or its question waits.
func (s *Store) CallChanged(ctx context.Context, c tools.Call, o tools.Outcome) error {
	return s.change(ctx, "record a call", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE calls SET status = ? WHERE session = ? AND id = ? AND ended IS NULL`, string(o.Status), c.Session, c.ID)
		return err
	})
}

// record inserts a call, whose conversation may have been deleted meanwhile:
// then there is nothing to keep it for.
func (s *Store) record(ctx context.Context, what string, c tools.Call, o tools.Outcome, ended any, conflict string) error {
	outcome, err := pack(o)
	if err != nil {
		return err
	}
	arguments := string(c.Arguments)
	if !json.Valid(c.Arguments) {
		arguments = "null"
	}
	return s.change(ctx, what, func(tx *sql.Tx) error {
		if s.deleted(c.Conversation) {
			return nil
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO calls (id, session, conversation, agent, client, status, started, ended, arguments, outcome) VALUES (?,?,?,?,?,?,?,?,?,?) `+conflict,
			c.ID, c.Session, c.Conversation, c.Agent, c.Client, string(o.Status), o.Started.UnixMilli(), ended, arguments, outcome)
		return err
	})
}

// CallUndone notes that the edit with this undo id was taken back and returns
// the conversations that show it.
func (s *Store) CallUndone(ctx context.Context, undo string) (conversations []string, err error) {
	err = s.change(ctx, "record an undo", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `UPDATE calls SET outcome = json_set(outcome, '$.undone', json('true'))
			WHERE instr(outcome, ?) AND json_extract(outcome, '$.structured.undo_id') = ? RETURNING conversation`, undo, undo)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				return err
			}
			conversations = append(conversations, one)
		}
		return rows.Err()
	})
	return conversations, err
}

func pack(o tools.Outcome) (string, error) {
	var text []byte
	var err error
	fits := o.Size() <= maxOutcome
	if fits {
		text, err = json.Marshal(o)
		fits = len(text) <= maxOutcome
	}
	if err == nil && !fits {
		o.Content, o.Structured, o.Partial = nil, nil, true
		if len(o.ModelText) > maxOutcome/2 {
			o.ModelText = ""
		}
		text, err = json.Marshal(o)
	}
	if err != nil {
		return "", fmt.Errorf("record a call: %w: %w", ErrInvalid, err)
	}
	return string(text), nil
}

// Calls returns the recorded calls of a conversation, oldest first, at most
// the newest limit (0 is 1000, at most 10000).
func (s *Store) Calls(ctx context.Context, conversation string, limit int) ([]RecordedCall, error) {
	h, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := h.read.QueryContext(ctx, `SELECT session, status, started, ended, arguments, outcome FROM
		(SELECT * FROM calls WHERE conversation = ? ORDER BY n DESC LIMIT ?) ORDER BY n`, conversation, bound(limit, 1000, 10000))
	if err != nil {
		return nil, explain("read calls", err)
	}
	defer rows.Close()
	list := []RecordedCall{}
	for rows.Next() {
		var c RecordedCall
		var status, arguments, outcome string
		var started int64
		var ended sql.NullInt64
		if err := rows.Scan(&c.Session, &status, &started, &ended, &arguments, &outcome); err != nil {
			return nil, explain("read calls", err)
		}
		if err := json.Unmarshal([]byte(outcome), &c.Outcome); err != nil {
			return nil, explain("read calls", err)
		}
		c.Arguments, c.Started = json.RawMessage(arguments), when(started)
		c.Status = tools.Status(status)
		list = append(list, c)
	}
	return list, explain("read calls", rows.Err())
}
