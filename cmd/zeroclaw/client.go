package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"zeroclaw/localserver"
)

// client is one command's way to the running companion.
type client struct {
	environment
	localserver.Instance
}

// client finds the companion or says how to start it.
func (e environment) client(ctx context.Context) (client, error) {
	state, err := e.stateDir()
	if err != nil {
		return client{}, err
	}
	i, err := localserver.Find(ctx, state)
	if err != nil {
		return client{}, failure{err: err, hint: "start it with: zeroclaw"}
	}
	return client{e, i}, nil
}

// ask sends one request. Its error says what was tried, why it failed and what
// can be done.
func (c client) ask(ctx context.Context, doing, method, path string, in, out any) error {
	err := c.Do(ctx, method, path, in, out)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return interrupted(doing)
	}
	f := failure{err: fmt.Errorf("%s: %s", doing, oneLine(err.Error()))}
	var answer *localserver.APIError
	if !errors.As(err, &answer) {
		f.hint = "zeroclaw status says whether the companion still runs"
		return f
	}
	if hint, ok := hints[answer.Code]; ok {
		f.hint = hint
	}
	if answer.Code == "denied" {
		f.code = exitDenied
	}
	return f
}

// hints are what can be done about errors of the API, by code.
var hints = map[string]string{
	"unknown_tool":    "zeroclaw tools lists what there is",
	"unknown_service": "zeroclaw services lists what there is",
	"unknown_server":  "zeroclaw servers lists what there is; servers are added in Settings → MCP or in config.toml",
	"unknown_token":   "zeroclaw token list lists what there is",
	"unauthorized":    "the companion was started anew meanwhile: try again",
	"ending":          "start it again with: zeroclaw",
}

// interrupted is the failure of what Ctrl-C ended.
func interrupted(doing string) error {
	return failure{err: fmt.Errorf("%s: interrupted", doing), code: exitInterrupted}
}

// segment is a name as a part of an address of the API.
func segment(name string) string { return url.PathEscape(name) }

// warning is a remark about a grant.
type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e environment) warn(all []warning) {
	for _, w := range all {
		fmt.Fprintf(e.stderr, "warning: %s\n", oneLine(w.Message))
	}
}
