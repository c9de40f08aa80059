package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// keepCalls bounds how many ended calls a session keeps for clients that come
// late; maxOpen how many may be under way at once.
const (
	keepCalls = 200
	maxOpen   = 64
)

// Errors that handlers tell apart.
var (
	ErrClosed   = errors.New("the session has ended; open a new one")
	ErrNoCall   = errors.New("there is no such call in this session")
	ErrNoTool   = errors.New("there is no such tool now; start its server")
	ErrCallID   = errors.New("this call id is in use already; choose another")
	ErrTooMany  = fmt.Errorf("%d calls are under way in this session already; wait for one to end", maxOpen)
	ErrNotFound = errors.New("there is no such session; it may have ended with the companion")
)

// call is one call under way or ended.
type call struct {
	tools.Call
	out    tools.Outcome
	undo   string // id under which its edit can be taken back
	output output // so far, while it runs
	cancel context.CancelFunc
	done   chan struct{}

	direct   bool                 // its caller waits for it: it is not kept, see Do
	progress func(tools.Progress) // nil: nobody wants it but the page
	session  *Session
	waiting  atomic.Int32 // how many wait for its end: they get it whole
}

// CallView is a call as listed, with its arguments.
type CallView struct {
	tools.Outcome
	Arguments json.RawMessage `json:"arguments"`
	Session   string          `json:"session"`
}

// Start begins a call and returns its id at once. The call ends with Cancel or
// the session, not with the request that started it.
func (s *Session) Start(c tools.Call) (string, error) {
	ctx, cancel := context.WithCancel(s.ctx)
	live, err := s.begin(&call{Call: c, cancel: cancel})
	if err != nil {
		cancel()
		return "", err
	}
	go func() {
		defer s.work.Done()
		defer cancel()
		live.end(s.runner.Run(ctx, s, live.Call))
		close(live.done)
	}()
	return live.ID, nil
}

// begin enters a call into the session. Its owner says work.Done when it ended.
func (s *Session) begin(live *call) (*call, error) {
	live.Session, live.Conversation, live.Agent = s.ID, s.Conversation, s.Agent
	if live.ID == "" {
		live.ID = s.host.config.NewID()
	}
	live.done, live.session = make(chan struct{}), s
	live.out = tools.Outcome{CallID: live.ID, Tool: live.Tool, Status: tools.Running, Started: s.host.config.Now().UTC()}
	if err := s.add(live); err != nil {
		return nil, err
	}
	s.host.touch(s.ID)
	return live, nil
}

func (s *Session) add(live *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if _, used := s.calls[live.ID]; used {
		return ErrCallID
	}
	if s.running >= maxOpen {
		return ErrTooMany
	}
	s.running++
	s.work.Add(1)
	s.calls[live.ID] = live
	s.order = append(s.order, live.ID)
	for i := 0; len(s.order) > keepCalls+maxOpen && i < len(s.order); {
		if id := s.order[i]; s.calls[id].out.Status.Ended() {
			s.host.kept.forget(s.calls[id])
			delete(s.calls, id)
			s.order = slices.Delete(s.order, i, i+1)
		} else {
			i++
		}
	}
	return nil
}

// Call returns a call as it stands. Of one that ended long ago the content may
// be gone, see Partial: what is bigger than a model may read is stored under
// its ResultID, and with a conversation the entire call is.
func (s *Session) Call(id string) (tools.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.calls[id]
	if !ok {
		return tools.Outcome{}, ErrNoCall
	}
	return c.out, nil
}

// Live is a call as it stands, with what it has printed so far. OutputEnd
// counts all bytes that it printed: a call.output event with a smaller at is in
// Output already.
type Live struct {
	tools.Outcome
	Output    []Piece `json:"output,omitempty"`
	OutputEnd int64   `json:"output_end,omitempty"`
}

// Live returns a call as Call does; of one that runs also its output so far.
func (s *Session) Live(id string) (Live, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.calls[id]
	if !ok {
		return Live{}, ErrNoCall
	}
	return Live{c.out, slices.Clone(c.output.pieces), c.output.end}, nil
}

// Wait returns a call when it has ended. When ctx ends first, the call is
// cancelled: its caller is gone.
func (s *Session) Wait(ctx context.Context, id string) (tools.Outcome, error) {
	s.mu.Lock()
	c, ok := s.calls[id]
	if ok {
		c.waiting.Add(1)
		defer c.waiting.Add(-1)
	}
	s.mu.Unlock()
	if !ok {
		return tools.Outcome{}, ErrNoCall
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.cancel()
		<-c.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.out, nil
}

// Cancel ends a call: its question disappears, its process group is killed.
func (s *Session) Cancel(id string) error {
	s.mu.Lock()
	c, ok := s.calls[id]
	s.mu.Unlock()
	if !ok {
		return ErrNoCall
	}
	c.cancel()
	return nil
}

// Calls lists running and recent calls, oldest first.
func (s *Session) Calls() []CallView {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]CallView, 0, len(s.order))
	for _, id := range s.order {
		c := s.calls[id]
		out = append(out, CallView{Outcome: c.out, Arguments: c.Arguments, Session: s.ID})
	}
	return out
}

// open counts the calls that have not ended.
func (s *Session) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Pass implements tools.Decider.
func (s *Session) Pass(c tools.Call) *tools.Pass {
	publish := s.host.config.Publish
	// One judge for the whole call: a search judges thousands of paths.
	judge := s.judge()
	s.mu.Lock()
	var told func(tools.Progress)
	if live := s.calls[c.ID]; live != nil {
		told = live.progress
	}
	s.mu.Unlock()
	return &tools.Pass{
		Whole: c.Client == tools.ClientMCP, Item: c.Item,
		CallID: c.ID, Session: s.ID, Owner: c.Owner(), Root: s.Root,
		MayRead: judge.mayRead,
		Judge: func(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
			return judge.Path(c.Tool, path, op)
		},
		Progress: func(p tools.Progress) {
			p.Message = s.host.config.Redact(p.Message)
			if told != nil {
				told(p)
			}
			publish("call.progress", struct {
				Session string `json:"session"`
				CallID  string `json:"call_id"`
				tools.Progress
			}{s.ID, c.ID, p})
		},
		Output: newWordwise(func(stream, text string) {
			piece := Piece{stream, s.host.config.Redact(text)}
			publish("call.output", struct {
				Session string `json:"session"`
				CallID  string `json:"call_id"`
				Piece
				At int64 `json:"at"`
			}{s.ID, c.ID, piece, s.printed(c.ID, piece)})
		}).write,
	}
}
