// Command conformance is the client that the conformance suite of the Model
// Context Protocol judges: the companion's real connector, doing what each
// scenario asks. Its last argument is the server's URL.
//
// It lies below testdata so that no build of the product takes it along; run it
// by its path.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"zeroclaw/services"
	"zeroclaw/services/mcpclient"
)

// outOfScope is the exit code for a scenario that is not played here.
const outOfScope = 3

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: conformance URL, with MCP_CONFORMANCE_SCENARIO set")
		os.Exit(2)
	}
	err := play(os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Args[len(os.Args)-1])
	switch {
	case errors.Is(err, errOutOfScope):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(outOfScope)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var errOutOfScope = errors.New("this scenario is not played")

func play(scenario, url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	hooks := services.Hooks{
		Log:          func(stream, text string) { fmt.Fprintln(os.Stderr, stream+": "+text) },
		Notice:       func(text string) { fmt.Fprintln(os.Stderr, "notice: "+text) },
		Info:         func(i services.Info) { fmt.Fprintf(os.Stderr, "protocol %s\n", i.Protocol) },
		ToolsChanged: func() {},
		Closed:       func(err error) { fmt.Fprintln(os.Stderr, "closed:", err) },
		Ask:          ask,
	}
	spec := services.Spec{Name: "judged", Origin: services.OriginServer, Transport: services.TransportHTTP, URL: url}
	peer, err := mcpclient.New(mcpclient.Config{Identity: mcpclient.Identity{Name: "zeroclaw", Version: "conformance"}}).Connect(ctx, spec, hooks)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = peer.Close(cctx)
	}()
	tools, err := peer.Tools(ctx)
	if err != nil {
		return fmt.Errorf("listing the tools: %w", err)
	}
	return scenes(ctx, scenario, peer, tools)
}

// ask accepts what a scenario asks. The fields that it leaves out get their
// defaults.
func ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" {
		return json.RawMessage(`{"role":"assistant","model":"none","content":{"type":"text","text":"sampled"},"stopReason":"endTurn"}`), nil
	}
	var q struct {
		Schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, err
	}
	if _, ok := q.Schema.Properties["confirmed"]; ok {
		return json.RawMessage(`{"action":"accept","content":{"confirmed":true}}`), nil
	}
	return json.RawMessage(`{"action":"accept","content":{}}`), nil
}

func scenes(ctx context.Context, scenario string, peer services.Peer, tools []services.ToolDef) error {
	call := func(name, args string) error {
		_, err := peer.Call(ctx, name, json.RawMessage(args), nil)
		return err
	}
	switch scenario {
	case "initialize", "json-schema-ref-no-deref", "request-metadata":
		return nil
	case "tools_call":
		return call("add_numbers", `{"a":5,"b":3}`)
	case "elicitation-sep1034-client-defaults":
		return call("test_client_elicitation_defaults", `{}`)
	case "sse-retry":
		return call("test_reconnection", `{}`)
	case "json-schema-2020-12-preservation":
		for _, t := range tools {
			if t.Name == "json_schema_2020_12_tool" {
				return call("json_schema_echo", `{"schema":`+string(t.InputSchema)+`}`)
			}
		}
		return errors.New("the tool with the schema is not listed")
	case "http-standard-headers":
		return standard(ctx, peer, tools)
	case "http-custom-headers":
		var c struct {
			ToolCalls []struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"toolCalls"`
		}
		if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &c); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
		for _, t := range c.ToolCalls {
			if err := call(t.Name, string(t.Arguments)); err != nil {
				return err
			}
		}
		return nil
	case "http-invalid-tool-headers":
		for _, t := range tools {
			if err := call(t.Name, `{"region":"us-west1"}`); err != nil {
				fmt.Fprintln(os.Stderr, t.Name, err)
			}
		}
		return nil
	case "sep-2322-client-request-state":
		for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"} {
			if err := call(name, `{}`); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q: %w", scenario, errOutOfScope)
}

// standard makes one request of each kind that travels with a name.
func standard(ctx context.Context, peer services.Peer, tools []services.ToolDef) error {
	if len(tools) > 0 {
		if _, err := peer.Call(ctx, tools[0].Name, nil, nil); err != nil {
			return err
		}
	}
	first := func(method, list, key string) (string, error) {
		raw, err := peer.Request(ctx, method, nil)
		if err != nil {
			return "", err
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return "", err
		}
		var items []map[string]any
		if err := json.Unmarshal(members[list], &items); err != nil || len(items) == 0 {
			return "", fmt.Errorf("%s names none", method)
		}
		name, _ := items[0][key].(string)
		return name, nil
	}
	uri, err := first("resources/list", "resources", "uri")
	if err != nil {
		return err
	}
	prompt, err := first("prompts/list", "prompts", "name")
	if err != nil {
		return err
	}
	for method, params := range map[string]map[string]string{"resources/read": {"uri": uri}, "prompts/get": {"name": prompt}} {
		b, err := json.Marshal(params)
		if err != nil {
			return err
		}
		if _, err := peer.Request(ctx, method, b); err != nil {
			return err
		}
	}
	return nil
}
