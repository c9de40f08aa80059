package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"zeroclaw/localserver"
)

// maxEvent bounds one line of the event stream, in bytes. What is longer ends
// the listening.
const maxEvent = 16 << 20

// listen hands every event of the companion to hear until ctx or the stream
// ends.
func listen(ctx context.Context, i localserver.Instance, hear func(kind string, data []byte)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/api/events", i.Port), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+i.Token)
	r.Header.Set("Accept", "text/event-stream")
	// A proxy of the environment must not see loopback traffic.
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return fmt.Errorf("listen to the companion: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("listen to the companion: it answered %s", answer.Status)
	}
	return readEvents(answer.Body, hear)
}

// readEvents reads a stream of events: lines "event: KIND" and "data: VALUE",
// ended by an empty one. Others are comments and numbers.
func readEvents(in io.Reader, hear func(kind string, data []byte)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxEvent)
	var kind string
	var data []byte
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(lines.Bytes()) == 0:
			if kind != "" {
				hear(kind, data)
			}
			kind, data = "", nil
		case string(name) == "event":
			kind = string(value)
		case string(name) == "data" && len(data)+len(value) <= maxEvent:
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
	return lines.Err()
}
