package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"zeroclaw/tools"
)

// cutOff is a call whose end a crash swallowed.
type cutOff struct {
	call    tools.Call
	outcome tools.Outcome
}

// interrupt ends the calls that have no end, at a time in Unix milliseconds,
// and returns them. One whose question waited has done nothing; of one that ran
// nobody knows how far it came.
func interrupt(ctx context.Context, tx *sql.Tx, ended int64) ([]cutOff, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, session, conversation, agent, client, status, arguments, outcome FROM calls WHERE ended IS NULL ORDER BY n`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []cutOff
	for rows.Next() {
		var c cutOff
		var status, arguments, outcome string
		if err := rows.Scan(&c.call.ID, &c.call.Session, &c.call.Conversation, &c.call.Agent, &c.call.Client, &status, &arguments, &outcome); err != nil {
			return nil, err
		}
		if json.Unmarshal([]byte(outcome), &c.outcome) != nil {
			// A damaged record must not keep the others from being read.
			c.outcome = tools.Outcome{CallID: c.call.ID}
		}
		c.call.Tool, c.call.Arguments = c.outcome.Tool, json.RawMessage(arguments)
		o := &c.outcome
		o.Status, o.IsError = tools.Interrupted, true
		o.Key, o.Reason = "interrupted", "the companion ended while this call was running; it may have done a part"
		if tools.Status(status) == tools.Waiting {
			o.Key, o.Reason = "interrupted_waiting", "the companion ended while the question about this call waited; nothing was done"
		}
		list = append(list, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, c := range list {
		text, err := pack(c.outcome)
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE calls SET status = ?, ended = ?, outcome = ? WHERE session = ? AND id = ?`,
			string(tools.Interrupted), ended, text, c.call.Session, c.call.ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}
