package localserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/audit"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
	"zeroclaw/tools/files"
)

// postUndo serves POST /api/undo/{id}: a person takes an edit back. It is
// judged as the session that made the edit would be. What the policy denies
// stays denied; where it would ask, the press of the button is the answer.
func (s *Server) postUndo(w http.ResponseWriter, r *http.Request) {
	u := undoing{server: s, id: r.PathValue("id"), began: s.config.Now(), verdict: permissions.Verdict{Decision: permissions.Error}}
	u.editor, _ = s.sessions.Editor(u.id)
	got, err := s.files.Undo(r.Context(), u.id, u.judge)
	u.record(string(guard.From(r).Kind), err)
	switch {
	case err == nil:
		s.takenBack(u.id)
	case errors.Is(err, files.ErrUndoChanged):
		err = &guard.Error{Status: http.StatusConflict, Code: "changed_since", Message: err.Error()}
	case errors.Is(err, files.ErrUndoUnknown):
		err = &guard.Error{Status: http.StatusNotFound, Code: "cannot_undo", Message: err.Error()}
	case u.refused:
		err = &guard.Error{Status: http.StatusForbidden, Code: "denied", Message: err.Error()}
	default:
		err = &guard.Error{Status: http.StatusInternalServerError, Code: "undo_failed", Message: err.Error()}
	}
	answer(w, http.StatusOK, got, err)
}

// takenBack lets every page know, now and later, that an edit is undone.
func (s *Server) takenBack(id string) {
	s.sessions.TakenBack(id)
	conversations, err := s.store.CallUndone(context.Background(), id)
	s.storeFailed(err)
	for _, one := range conversations {
		s.conversationsChanged(one, nil)
	}
}

// undoing is one press of Undo.
type undoing struct {
	server  *Server
	id      string
	began   time.Time
	editor  *session.Session // that made the edit; nil when it has ended
	path    string
	verdict permissions.Verdict
	refused bool
}

func (u *undoing) judge(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
	u.path = path
	p, v := u.decide(path, op)
	u.verdict = v
	if v.Decision == permissions.Ask {
		v.Decision = permissions.Allow
	}
	u.refused = v.Decision != permissions.Allow
	return p, v
}

// decide judges as the session that made the edit. When it has ended, the
// folder that the file lies in says whose edit it was: no other session could
// have made it there.
func (u *undoing) decide(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
	if u.editor != nil {
		return u.editor.JudgeUndo(path, op)
	}
	s := u.server
	root := s.Root()
	j, err := s.judgeFor(root)
	if workspace := s.workspaceAround(permissions.DecodePath(path)); err == nil && workspace != "" {
		j.Resolver, err = resolve.New(resolve.Config{Root: root, Home: s.config.Home, State: s.config.State, Workspace: workspace, Pids: s.pids})
		if err == nil {
			j.Settings = s.policy.Settings(j.Resolver, nil)
		}
	}
	if err != nil {
		return permissions.Path{Given: path, Err: err.Error()}, permissions.Verdict{Decision: permissions.Error, Reason: err.Error()}
	}
	return j.Path("edit_file", path, op)
}

// workspaceAround is the workspace that a resolved path lies in, "" if none.
func (s *Server) workspaceAround(path string) string {
	all, err := filepath.EvalSymlinks(s.workspace(""))
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(all, filepath.FromSlash(path))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	folder, _, _ := strings.Cut(rel, string(filepath.Separator))
	return s.workspace(folder)
}

// record writes the audit line of the undo.
func (u *undoing) record(client string, err error) {
	e := audit.Entry{
		Time: u.began.UTC(), Client: client, Tool: "undo", Outcome: string(tools.OK),
		Verdict: string(u.verdict.Decision), Row: u.verdict.Row, Rule: u.verdict.Rule,
		AnsweredBy: client, Answer: string(approval.Once), DurationMS: u.server.config.Now().Sub(u.began).Milliseconds(),
	}
	e.Arguments, _ = json.Marshal(map[string]string{"id": u.id, "path": u.path})
	if u.editor != nil {
		e.Session, e.Agent = u.editor.ID, u.editor.Agent
	}
	if err != nil {
		e.Reason, e.Outcome = err.Error(), string(tools.Failed)
		if u.refused {
			e.Outcome = string(tools.Denied)
		}
	}
	u.server.writeAudit(e)
}
