package localserver

import (
	"zeroclaw/localserver/config"
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

// Unanswerable is the answer to a query that cannot be judged.
func Unanswerable(why string) Answer { return session.Unanswerable(why) }

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
	return session.Explain(judgeOf(file.Current(), res, policy, memory), q), nil
}
