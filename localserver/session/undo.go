package session

import (
	"encoding/json"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// edits is the tool whose calls can be taken back.
const edits = "edit_file"

// undoOf reads the id that edit_file gives for taking the edit back.
func undoOf(o tools.Outcome) string {
	if o.Tool != edits {
		return ""
	}
	var edit struct {
		UndoID string `json:"undo_id"`
	}
	if json.Unmarshal(o.Structured, &edit) != nil {
		return ""
	}
	return edit.UndoID
}

// Editor returns the open session whose edit can be taken back under an id.
func (s *Sessions) Editor(undo string) (*Session, bool) {
	if undo == "" {
		return nil, false
	}
	for _, one := range s.List() {
		one.mu.Lock()
		for _, c := range one.calls {
			if c.undo == undo {
				one.mu.Unlock()
				return one, true
			}
		}
		one.mu.Unlock()
	}
	return nil, false
}

// TakenBack notes that the edit with this undo id was taken back.
func (s *Sessions) TakenBack(undo string) {
	one, ok := s.Editor(undo)
	if !ok {
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, c := range one.calls {
		if c.undo == undo {
			c.out.Undone = true
		}
	}
}

// JudgeUndo judges what taking an edit of this session back would touch, as an
// edit would be judged now.
func (s *Session) JudgeUndo(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
	return s.judge().Path(edits, path, op)
}
