package localserver

import (
	"net/http"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/session"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
)

// Query is one question to the rule tester.
type Query = session.Query

// Answer is what would happen, and why.
type Answer = session.Answer

// ExplainAlone answers a query from nothing but itself.
func ExplainAlone(q Query) Answer { return session.ExplainAlone(q) }

// ReadQuery reads one JSON object as strictly as the API does: no key twice,
// none that is unknown or spelled in another case.
func ReadQuery(text []byte) (Query, error) {
	var q Query
	if f := guard.DecodeBytes(text, &q); f != nil {
		return Query{}, f
	}
	return q, nil
}

// Unanswerable is the answer to a query that cannot be judged.
func Unanswerable(why string) Answer { return session.Unanswerable(why) }

// postExplain serves POST /api/permissions/explain.
func (s *Server) postExplain(w http.ResponseWriter, r *http.Request) {
	var in session.Query
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	guard.WriteJSON(w, http.StatusOK, s.explain(in))
}

// explain answers the rule tester: with the live permissions, or with those
// that the query brings along.
func (s *Server) explain(q session.Query) session.Answer {
	if q.Home == "" {
		q.Home = s.config.Home
	}
	if q.Root == "" {
		q.Root = s.Root()
	}
	a := s.explainIn(q)
	a.Root = q.Root
	return a
}

func (s *Server) explainIn(q session.Query) session.Answer {
	if q.Rules != nil {
		return session.ExplainAlone(q)
	}
	j, err := s.judgeFor(q.Root)
	if err != nil {
		return session.Unanswerable(err.Error())
	}
	if q.Policy != "" {
		j.Settings.Policy = q.Policy
	}
	return session.Explain(j, q)
}

// ExplainFrom answers a query from the configuration of a state folder, for
// when no companion runs.
func ExplainFrom(state string, q Query) (Answer, error) {
	file, err := config.Open(config.Config{Dir: state})
	if err != nil {
		return Answer{}, err
	}
	res, err := resolve.New(resolve.Config{Root: q.Root, Home: q.Home, State: state})
	if err != nil {
		return Answer{}, err
	}
	policy, err := session.OpenPolicy(statePath(state, "rule-bases.json"), true)
	if err != nil {
		return Answer{}, err
	}
	if err := policy.Set(valuesOf(file.Current()), res); err != nil {
		return Answer{}, err
	}
	memory, err := approval.OpenMemory(statePath(state, "decisions.json"), newID, nil)
	if err != nil {
		return Answer{}, err
	}
	a := session.Explain(judgeOf(file.Current(), res, policy, memory), q)
	a.Root = q.Root
	return a, nil
}
