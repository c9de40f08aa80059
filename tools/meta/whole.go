package meta

import (
	"context"
	"encoding/json"
	"errors"

	"zeroclaw/tools"
)

// asItCame reports whether a call wants what the server answers as it came, for
// another MCP client that got an item.
func asItCame(ctx context.Context) bool {
	pass, ok := tools.PassFrom(ctx)
	return ok && pass.Item
}

// passed gets an item, SERVER__ITEM, with the parameters made for the server's
// own name of it. The error is the server's.
func passed(ctx context.Context, r Remote, method, item string, params func(own string) any) (tools.Result, error) {
	server, own, refusal := split(r, item)
	switch {
	case refusal != "":
		return tools.Result{}, errors.New(refusal)
	case own == "" || !r.Reaches(server, own):
		return tools.Result{}, errNotReached
	}
	text, err := json.Marshal(params(own))
	if err != nil {
		return tools.Result{}, err
	}
	raw, err := r.Request(ctx, server, method, text)
	if err == nil && !json.Valid(raw) {
		err = errNoJSON
	}
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Whole: raw}, nil
}
