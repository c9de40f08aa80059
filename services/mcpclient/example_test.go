package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"zeroclaw/services"
	"zeroclaw/services/mcpclient"
)

// How the local server wires services together: definitions from a folder,
// settings in the state folder, MCP over processes.
func Example() {
	state, err := os.MkdirTemp("", "zeroclaw")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	folder := &services.Folder{Path: filepath.Join(state, "services")}

	supervisor, err := services.New(services.Config{
		Connector: mcpclient.New(mcpclient.Config{Identity: mcpclient.Identity{Name: "zeroclaw", Version: "0.1.0"}}),
		Scan:      folder.Scan,
		Store:     services.FileStore{Path: filepath.Join(state, "state", "service-options.json")},
		Vars: func() services.Vars {
			self, _ := os.Executable()
			return services.Vars{Root: state, Self: self}
		},
		Notify: func(e services.Event) {
			// EventState → service.state {e.Status}; EventLog → service.log
			// {e.Name, e.Lines}; EventTools and EventGone → tools.changed.
		},
		Roots: func() []services.Root { return []services.Root{{URI: "file://" + state, Name: "root"}} },
	})
	if err != nil {
		// The settings could not be read: it works, and saves nothing.
		fmt.Println(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- supervisor.Serve(ctx) }()

	for _, s := range supervisor.List() {
		fmt.Println(s.ID, s.State)
	}
	_, err = supervisor.Call(ctx, services.ToolCall{Server: "dummy_mcp", Tool: "echo", Args: json.RawMessage(`{"message":"hello"}`)})
	fmt.Println(err)

	stop()
	fmt.Println(<-served)
	// Output:
	// no such service: "dummy_mcp"
	// <nil>
}
