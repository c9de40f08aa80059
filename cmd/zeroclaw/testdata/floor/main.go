// Command floor is the barest bridge to MCP servers that is still one, for
// measuring against: it checks a token, starts the servers, keeps their list of
// tools as bytes and passes calls through as they are. floor ADDRESS TOKEN
// N COMMAND [ARG…] starts the command N times.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// server is one process with the requests that wait for its answers.
type server struct {
	mu      sync.Mutex
	in      io.Writer
	next    int
	waiting map[int]chan json.RawMessage
}

func start(argv []string) (*server, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &server{in: in, waiting: map[int]chan json.RawMessage{}}
	go s.read(out)
	return s, cmd.Start()
}

func (s *server) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		s.mu.Lock()
		c := s.waiting[m.ID]
		delete(s.waiting, m.ID)
		s.mu.Unlock()
		if c != nil {
			c <- m.Result
		}
	}
}

func (s *server) ask(method string, params json.RawMessage) json.RawMessage {
	s.mu.Lock()
	s.next++
	id, c := s.next, make(chan json.RawMessage, 1)
	s.waiting[id] = c
	fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	s.mu.Unlock()
	return <-c
}

func main() {
	address, token := os.Args[1], os.Args[2]
	n, _ := strconv.Atoi(os.Args[3])
	servers, lists := make([]*server, n), make([]json.RawMessage, n)
	var ready sync.WaitGroup
	for i := range n {
		ready.Go(func() {
			s, err := start(os.Args[4:])
			if err != nil {
				panic(err)
			}
			s.ask("initialize", json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}`))
			servers[i], lists[i] = s, s.ask("tools/list", json.RawMessage(`{}`))
		})
	}
	allowed := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return false
		}
		return true
	}
	http.HandleFunc("GET /tools", func(w http.ResponseWriter, r *http.Request) {
		if allowed(w, r) {
			ready.Wait()
			w.Write(bytes.Join([][]byte{[]byte("["), bytes.Join(asBytes(lists), []byte(",")), []byte("]")}, nil))
		}
	})
	http.HandleFunc("POST /call", func(w http.ResponseWriter, r *http.Request) {
		if !allowed(w, r) {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			w.Write(servers[0].ask("tools/call", body))
		}
	})
	panic(http.ListenAndServe(address, nil))
}

func asBytes(lists []json.RawMessage) [][]byte {
	out := make([][]byte, len(lists))
	for i, l := range lists {
		out[i] = l
	}
	return out
}
