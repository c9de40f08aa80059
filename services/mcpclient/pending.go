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
	raw      json.RawMessage // the result as received, once it is there
	answered bool
	failed   error          // why the answer that came cannot be used
	progress chan struct{}  // capacity 1: there is news
	news     []progressNews // not told yet, at most maxNews
}

// maxNews bounds how much progress of a call waits to be told. Of more the newest
// counts.
const maxNews = 64

type progressNews struct {
	done, total float64
	message     string
}

func (s *session) result(x *exchange, r *transport.JSONRPCResponse) (json.RawMessage, error) {
	s.mu.Lock()
	raw, failed := x.raw, x.failed
	s.mu.Unlock()
	switch {
	case failed != nil:
		return nil, failed
	case r.Error != nil:
		return nil, &rpcError{code: r.Error.Code, message: r.Error.Message, data: r.Error.Data}
	}
	if raw == nil {
		raw = r.Result
	}
	return raw, nil
}

// spoil makes the answer that is about to be passed on an error of ours. It
// reports whether somebody waits for it.
func (s *session) spoil(id string, err error) bool {
	s.mu.Lock()
	x := s.pending[ownID(id)]
	if x != nil && !x.answered {
		x.failed = err
	}
	s.mu.Unlock()
	return s.keep(id, nil)
}

// keep takes the raw result of an answer (nil for an error answer) from the
// filter, without a copy. It reports whether somebody waits for it.
func (s *session) keep(id string, raw json.RawMessage) bool {
	id = ownID(id)
	s.mu.Lock()
	x := s.pending[id]
	known := x != nil && !x.answered
	if known {
		x.answered, x.raw = true, raw
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
	if n, err := strconv.ParseFloat(id, 64); err == nil && n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return id
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
