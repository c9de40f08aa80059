package mcpclient

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/client/transport"

	"zeroclaw/services"
)

// exchange is one request of ours that has no answer yet.
type exchange struct {
	done     chan struct{} // capacity 1: it is answered, or unsent
	progress chan struct{} // capacity 1: there is news; nil: nobody wants it
	unsent   error         // why there will be no answer; read after done

	// Guarded by session.mu.
	answered bool
	raw      json.RawMessage // the result as received
	refused  *rpcError       // the error that the server answered with
	failed   error           // why the answer that came cannot be used
	news     []progressNews  // not told yet, at most maxNews
}

// maxNews bounds how much progress of a call waits to be told. Of more the newest
// counts.
const maxNews = 64

type progressNews struct {
	done, total float64
	message     string
}

// take is the answer that a transport brought.
func (x *exchange) take(r *transport.JSONRPCResponse) {
	if r.Error != nil {
		x.refused = &rpcError{code: r.Error.Code, message: r.Error.Message, data: r.Error.Data}
		return
	}
	x.raw = r.Result
}

func (s *session) result(x *exchange) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case x.failed != nil:
		return nil, x.failed
	case x.refused != nil:
		return nil, x.refused
	}
	return x.raw, nil
}

// spoil makes an error of ours the answer. It reports whether somebody waits for
// it.
func (s *session) spoil(id string, err error) bool {
	s.mu.Lock()
	x := s.pending[ownID(id)]
	if x != nil && !x.answered {
		x.failed = err
	}
	s.mu.Unlock()
	return s.keep(id, nil, nil)
}

// keep takes the raw result of an answer from the filter, without a copy, or
// its error. It reports whether somebody waits for it.
func (s *session) keep(id string, result, failed json.RawMessage) bool {
	id = ownID(id)
	var refused *rpcError
	if failed != nil {
		d := rpcDetails(failed)
		refused = &rpcError{code: d.Code, message: d.Message, data: d.Data}
	}
	s.mu.Lock()
	x := s.pending[id]
	known := x != nil && !x.answered
	if known {
		x.answered, x.raw, x.refused = true, result, refused
		select {
		case x.done <- struct{}{}:
		default:
		}
	} else {
		s.strange++
	}
	log := !known && s.strange <= 10
	s.mu.Unlock()
	if log {
		s.hooks.Log("companion", fmt.Sprintf("dropped an answer that nobody waits for (id %s)", services.Clip(id, 80)))
	}
	return known
}

// ownID is an id as we write it: some servers send numbers back in another form.
func ownID(id string) string {
	if plainNumber(id) {
		return id
	}
	if n, err := strconv.ParseFloat(id, 64); err == nil && n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return id
}

// plainNumber reports whether an id is a number as we write it.
func plainNumber(id string) bool {
	if id == "" || len(id) > 15 || id[0] == '0' {
		return false
	}
	for i := range len(id) {
		if id[i] < '0' || id[i] > '9' {
			return false
		}
	}
	return true
}

// waiting are the ids of the requests that have no answer yet.
func (s *session) waiting() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.pending))
	for id, x := range s.pending {
		if !x.answered {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *session) progressed(fields map[string]any) {
	token, ok := fields["progressToken"].(float64)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.pending[strconv.FormatInt(int64(token), 10)]
	if x == nil {
		return
	}
	done, _ := fields["progress"].(float64)
	total, _ := fields["total"].(float64)
	message, _ := fields["message"].(string)
	if len(x.news) == maxNews {
		x.news = x.news[:maxNews-1]
	}
	x.news = append(x.news, progressNews{done, total, services.Shown(message, 2000)})
	select {
	case x.progress <- struct{}{}:
	default:
	}
}
