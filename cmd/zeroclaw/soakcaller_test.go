//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// soakCaller calls tools until the end of a round, as a client that now and then
// begins anew, asks for much, or vanishes.
type soakCaller struct {
	*soak
	name   string
	way    way
	server string // passed through, "" = all with their full names
	random *rand.Rand
}

// caller is the i-th one: every eighth uses the bridge, every fourth has no
// session, and of each kind every other one is at one server only.
func (s *soak) caller(i int, token string) *soakCaller {
	c := &soakCaller{soak: s, random: rand.New(rand.NewPCG(uint64(i), 1))}
	path := "/mcp"
	if i/8%2 == 1 {
		c.server = fmt.Sprintf("s%02d", 1+i%(soakServers-1))
		path += "/" + c.server
	}
	w := &httpWay{http: s.http, url: s.url + path, token: token, listens: i%3 == 0}
	kind := "session"
	switch {
	case i%8 == 7:
		c.server, kind = "", "bridge"
		c.way = &bridgeWay{home: s.home}
	case i%4 == 1:
		w.modern, kind = true, "stateless"
		c.way = w
	default:
		c.way = w
	}
	c.name = fmt.Sprintf("caller %d (%s %s)", i, kind, path)
	return c
}

func (c *soakCaller) run(end time.Time) {
	for time.Now().Before(end) {
		if err := c.life(end); err != nil {
			c.failed("%s: %v", c.name, err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// life is what happens between one beginning and the next.
func (c *soakCaller) life(end time.Time) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.way.open(ctx); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if failed := c.way.close(); failed != nil && err == nil {
			err = fmt.Errorf("end: %w", failed)
		}
	}()
	for range 50 + c.random.IntN(100) {
		if !time.Now().Before(end) {
			return nil
		}
		if err := c.step(); err != nil {
			return err
		}
		c.calls.Add(1)
		// In bursts nobody waits.
		if time.Now().UnixMilli()%10_000 > 300 {
			time.Sleep(time.Duration(c.random.IntN(400)) * time.Millisecond)
		}
	}
	return nil
}

// toolResult is the result of a call.
type toolResult struct {
	Content []struct {
		Type, Text, Data string
	}
	StructuredContent struct{ Sum int }
	IsError           bool
}

// wrong says that something was not answered as it should be.
func wrong(what string, err error, a rpcAnswer) error {
	if err == nil {
		return fmt.Errorf("%s is answered with %.300s %+v", what, a.Result, a.Error)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (c *soakCaller) step() error {
	// All but the last server: that one is restarted all the time.
	server := fmt.Sprintf("s%02d", 1+c.random.IntN(soakServers-1))
	prefix := server + "__"
	if c.server != "" {
		prefix = ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	call := func(ctx context.Context, tool string, args, meta map[string]any) (out toolResult, answer rpcAnswer, err error) {
		params := map[string]any{"name": prefix + tool, "arguments": args}
		if meta != nil {
			params["_meta"] = meta
		}
		if answer, err = c.way.ask(ctx, "tools/call", params); err == nil && answer.Error == nil {
			err = json.Unmarshal(answer.Result, &out)
		}
		return out, answer, err
	}
	text := func(out toolResult) string {
		if len(out.Content) == 0 {
			return ""
		}
		return out.Content[0].Text
	}
	vanish := func(tool string, args map[string]any) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(50+c.random.IntN(100))*time.Millisecond)
		defer cancel()
		out, answer, err := call(ctx, tool, args, nil)
		if err == nil && !out.IsError {
			return wrong(tool+" that was given up", nil, answer)
		}
		if ctx.Err() == nil {
			return wrong(tool+" before it was given up", err, answer)
		}
		return nil
	}
	switch kind := c.random.IntN(1000); {
	case kind < 700:
		message := strings.Repeat("é", c.random.IntN(100)) + c.name
		out, answer, err := call(ctx, "echo", map[string]any{"message": message}, nil)
		if err != nil || text(out) != message || out.IsError {
			return wrong("echo", err, answer)
		}
	case kind < 780:
		answer, err := c.way.ask(ctx, "tools/list", map[string]any{})
		var list struct{ Tools []struct{ Name string } }
		if err == nil && answer.Error == nil {
			err = json.Unmarshal(answer.Result, &list)
		}
		if err != nil || !slices.ContainsFunc(list.Tools, func(t struct{ Name string }) bool { return t.Name == prefix+"echo" }) {
			return wrong("list", err, answer)
		}
	case kind < 830:
		size := 64 << 10
		if kind < 784 {
			size = 1 << 20
		}
		out, answer, err := call(ctx, "big", map[string]any{"bytes": size}, nil)
		if err != nil || len(text(out)) != size {
			return wrong("big", err, answer)
		}
	case kind < 870:
		a := c.random.IntN(1000)
		out, answer, err := call(ctx, "add", map[string]any{"a": a, "b": 1}, map[string]any{"progressToken": "add"})
		if err != nil || a%2 == 0 && out.StructuredContent.Sum != a+1 || a%2 == 1 && !(out.IsError && strings.Contains(text(out), soakReason)) {
			return wrong(fmt.Sprint("add ", a), err, answer)
		}
	case kind < 900:
		out, answer, err := call(ctx, "slow", map[string]any{"seconds": 0.1, "steps": 5}, map[string]any{"progressToken": 7})
		if err != nil || out.IsError || answer.Error != nil {
			return wrong("slow", err, answer)
		}
	case kind < 930:
		out, answer, err := call(ctx, "fail", map[string]any{"message": "as asked"}, nil)
		if err != nil || !out.IsError || text(out) != "as asked" {
			return wrong("fail", err, answer)
		}
	case kind < 960:
		out, answer, err := call(ctx, "image", map[string]any{}, nil)
		if err != nil || !slices.ContainsFunc(out.Content, func(p struct{ Type, Text, Data string }) bool { return p.Type == "image" && p.Data != "" }) {
			return wrong("image", err, answer)
		}
	case kind < 980:
		_, answer, err := call(ctx, "nonesuch", map[string]any{}, nil)
		if err != nil || answer.Error == nil || answer.Error.Code != -32602 {
			return wrong("nonesuch", err, answer)
		}
	case kind < 990:
		return vanish("slow", map[string]any{"seconds": 60})
	default:
		return vanish("add", map[string]any{"a": -1, "b": 1}) // that nobody answers
	}
	return nil
}
