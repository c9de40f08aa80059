// Command gosdk is the client of the Go SDK as a program. It lists the tools of
// a server, calls one of them and prints as JSON what it got. What it is told on
// the way it prints at once as well, to standard error, as "progress: MESSAGE".
// The token for the server comes from the environment, as ZEROCLAW_TOKEN.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer adds the token to every request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// seen is what the program prints.
type seen struct {
	Version  string   `json:"version"`  // the revision that both speak
	Tools    []string `json:"tools"`    // names
	Text     string   `json:"text"`     // of the result's first part
	IsError  bool     `json:"isError"`  // the tool says that it failed
	Asked    []string `json:"asked"`    // what a person at the program is asked
	Progress []string `json:"progress"` // messages on the way
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	url := flag.String("url", "", "address of the server")
	version := flag.String("version", "", "revision to begin with")
	tool := flag.String("tool", "", "name of the tool to call")
	args := flag.String("args", "{}", "its arguments, as JSON")
	decide := flag.String("decide", "", "what a person at the program chooses; without it there is none")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := seen{Asked: []string{}, Progress: []string{}}
	options := &mcp.ClientOptions{
		// With it the client listens for changes of the list.
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			out.Progress = append(out.Progress, r.Params.Message)
			fmt.Fprintf(os.Stderr, "progress: %s\n", r.Params.Message)
		},
	}
	if *decide != "" {
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			out.Asked = append(out.Asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": *decide}}, nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, options)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: *url, HTTPClient: &http.Client{Transport: bearer{os.Getenv("ZEROCLAW_TOKEN")}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: *version})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	out.Version = session.InitializeResult().ProtocolVersion
	for one, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		out.Tools = append(out.Tools, one.Name)
	}
	params := &mcp.CallToolParams{Name: *tool, Arguments: json.RawMessage(*args)}
	params.SetProgressToken("p")
	result, err := session.CallTool(ctx, params)
	if err != nil {
		return fmt.Errorf("call: %w", err)
	}
	out.IsError = result.IsError
	if len(result.Content) > 0 {
		if text, ok := result.Content[0].(*mcp.TextContent); ok {
			out.Text = text.Text
		}
	}
	// Once it is closed no handler runs any more.
	if err := session.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
