package session

import (
	"encoding/json"
	"sync"

	"zeroclaw/permissions/approval"
	"zeroclaw/tools"
)

// event is the payload of call.started and call.finished.
type event struct {
	Session      string          `json:"session"`
	Conversation string          `json:"conversation,omitempty"`
	Call         tools.Outcome   `json:"call"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
}

// bigResult is the size above which an event leaves the content out.
const bigResult = 64 << 10

// recorder tells clients, the audit log and the store how calls go.
type recorder struct{ s *Session }

// events are used again: there are two for each call, and mostly nobody listens.
var events = sync.Pool{New: func() any { return new(event) }}

func (r recorder) publish(kind string, e event) {
	one := events.Get().(*event)
	*one = e
	r.s.host.config.Publish(kind, one)
	*one = event{}
	events.Put(one)
}

// Started implements tools.Recorder.
func (r recorder) Started(c tools.Call, o tools.Outcome) {
	r.publish("call.started", event{r.s.ID, r.s.Conversation, o, c.Arguments})
	r.s.host.config.Started(c, o)
}

// Changed implements tools.Recorder.
func (r recorder) Changed(c tools.Call, o tools.Outcome) {
	r.s.mu.Lock()
	if live, ok := r.s.calls[c.ID]; ok && !live.out.Status.Ended() {
		live.out = o
	}
	r.s.mu.Unlock()
	r.s.host.config.Changed(c, o)
}

// Ended implements tools.Recorder.
func (r recorder) Ended(c tools.Call, o tools.Outcome, j tools.Judged, answer approval.Resolution) {
	r.s.mu.Lock()
	live := r.s.calls[c.ID]
	r.s.mu.Unlock()
	if live != nil {
		live.end(o) // before the event: who hears it may ask for the call at once
	}
	r.s.host.config.Ended(c, o, j, answer)
	if o.Size() > bigResult {
		o = withoutContent(o)
	}
	r.publish("call.finished", event{r.s.ID, r.s.Conversation, o, nil})
}
