package localserver

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"zeroclaw/localserver/guard"
	"zeroclaw/permissions"
)

// maxTokenYears is how far ahead the end of a named token may lie.
const maxTokenYears = 5

// tokenView is a named token as the API shows it.
type tokenView struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Agent    string    `json:"agent"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"`
	LastUsed time.Time `json:"last_used,omitzero"`
}

func viewOf(n namedToken) tokenView {
	return tokenView{n.ID, n.Name, n.Agent, n.Created, n.Expires, n.LastUsed}
}

// openTokens opens the named tokens. Damaged ones become a Problem.
func (s *Server) openTokens() {
	var err error
	s.tokens, err = openTokens(tokenConfig{
		path: statePath(s.config.State, "tokens.json"), keys: s.keys, rand: s.config.Rand, now: s.config.Now,
		changed: func() { s.hub.Publish("tokens.changed", struct{}{}) },
	})
	if err != nil {
		s.problem("tokens", err.Error())
	}
}

// tokenError maps errors of the store to answers of the API.
func tokenError(err error) error {
	var field *guard.FieldError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTokensUnreadable): // it may wrap a field of the file
		return &guard.Error{Status: http.StatusConflict, Code: "tokens_unreadable", Message: err.Error()}
	case errors.As(err, &field):
		return err
	case errors.Is(err, errTokenLimit):
		return &guard.Error{Status: http.StatusConflict, Code: "too_many_tokens", Message: err.Error()}
	case errors.Is(err, errNoToken):
		return &guard.Error{Status: http.StatusNotFound, Code: "unknown_token", Message: err.Error()}
	}
	return &guard.Error{Status: http.StatusInternalServerError, Code: "not_saved", Message: err.Error()}
}

// getTokens serves GET /api/tokens.
func (s *Server) getTokens(w http.ResponseWriter, _ *http.Request) {
	list, err := s.tokens.List()
	views := []tokenView{}
	for _, n := range list {
		views = append(views, viewOf(n))
	}
	answer(w, http.StatusOK, map[string]any{"tokens": views}, tokenError(err))
}

// postToken serves POST /api/tokens: a new token, which is told this once.
func (s *Server) postToken(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name    string  `json:"name"`
		Agent   string  `json:"agent"`
		Expires *string `json:"expires"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if in.Agent == "" {
		in.Agent = permissions.BuiltinAgent
	}
	if err := s.checkAgent(in.Agent); err != nil {
		guard.WriteError(w, err)
		return
	}
	var expires time.Time
	if in.Expires != nil {
		var err error
		if expires, err = checkExpiry(*in.Expires, s.config.Now()); err != nil {
			guard.WriteError(w, &guard.FieldError{Field: "expires", Message: err.Error()})
			return
		}
	}
	token, n, err := s.tokens.Create(in.Name, in.Agent, expires)
	answer(w, http.StatusCreated, struct {
		tokenView
		Token string `json:"token"`
	}{viewOf(n), token}, tokenError(err))
}

// checkAgent refuses an agent that there is not.
func (s *Server) checkAgent(name string) error {
	known := s.file.Current().Agents
	if _, ok := known[name]; ok || name == permissions.BuiltinAgent {
		return nil
	}
	names := slices.Sorted(maps.Keys(known))
	if !slices.Contains(names, permissions.BuiltinAgent) {
		names = append([]string{permissions.BuiltinAgent}, names...)
	}
	return &guard.Error{Status: http.StatusBadRequest, Code: "unknown_agent", Field: "agent",
		Message: fmt.Sprintf("there is no agent %q; there is: %q", name, names)}
}

// checkExpiry reads when a token is to end, which must be ahead and not too far.
func checkExpiry(text string, now time.Time) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return t, errors.New("write the time as 2027-01-31T00:00:00Z, or leave it out for a token without an end")
	case !t.After(now):
		return t, errors.New("this time has passed; give one that is ahead")
	case t.After(now.AddDate(maxTokenYears, 0, 0)):
		return t, fmt.Errorf("a token lasts for %d years at most; give a time before that, or leave it out for a token without an end", maxTokenYears)
	}
	return t, nil
}

// deleteToken serves DELETE /api/tokens/{id}.
func (s *Server) deleteToken(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNoContent, nil, tokenError(s.tokens.Revoke(r.PathValue("id"))))
}
