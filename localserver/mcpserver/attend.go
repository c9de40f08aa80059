package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"zeroclaw/tools"
)

func (m *message) progressToken() json.RawMessage {
	token := member(m.param("_meta"), "progressToken")
	if len(token) == 0 || token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil
	}
	return token
}

// attendance is one request that waits for a call.
type attendance struct {
	server   *Server
	reply    *reply
	run      *running
	token    json.RawMessage // for progress, nil: none is wanted
	ask      func(Question)  // puts a question to the client, if it can show it
	resolved func(id string) // withdraws it
	park     func() bool     // ends the attendance because the client has to answer; nil: never
	last     float64         // progress sent
}

// maxNews bounds how much progress of a call waits to be sent. Of more the newest
// counts.
const maxNews = 64

// signTime is the time between two signs that a call waits for a person.
const signTime = 5 * time.Second

// here runs the call, with do, in the goroutine of its request: most need nothing
// else. Another one attends it from the first news on. It returns as wait does.
func (a *attendance) here(ctx context.Context, do func()) bool {
	var ended chan bool
	a.run.mu.Lock()
	a.run.attend = func() {
		ended = make(chan bool, 1)
		go func() {
			all := a.wait(ctx)
			if !all {
				a.run.cancel()
			}
			ended <- all
		}()
	}
	a.run.mu.Unlock()
	do()
	a.run.mu.Lock()
	a.run.attend = nil
	attended := ended
	a.run.mu.Unlock()
	if attended == nil {
		return ctx.Err() == nil
	}
	return <-attended
}

// wait attends the call to its end and reports whether it got there: otherwise
// the client is gone, and the call with it, or the call was parked.
func (a *attendance) wait(ctx context.Context) bool {
	select { // most calls need nothing of what follows
	case <-a.run.done:
		a.told(a.run.take())
		return true
	case <-a.run.news: // for the loop
		a.run.tell(func() {})
	case <-ctx.Done():
	}
	sign := time.NewTicker(signTime)
	defer sign.Stop()
	waits := false
	for {
		select {
		case <-a.run.done:
			a.told(a.run.take())
			return true
		case <-a.run.news:
			n := a.run.take()
			waits = n.waits
			a.told(n)
			for _, q := range n.asked {
				a.ask(q)
			}
			if a.park != nil && a.park() {
				return false
			}
			if len(n.asked) > 0 {
				a.waiting()
			}
		case <-sign.C:
			if waits {
				a.waiting()
			}
			a.reply.beat()
			if a.reply.broken {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}

// told sends what the server told of the call, and withdraws what is answered.
func (a *attendance) told(n news) {
	for _, id := range n.resolved {
		a.resolved(id)
	}
	for _, text := range n.passed {
		a.reply.send([]byte(text))
	}
	for _, one := range n.progress {
		a.progressed(one)
	}
}

// waiting shows the client that a person is being asked, so that it does not
// give up.
func (a *attendance) waiting() {
	a.progress(a.last+0.0001, 0, "Waiting for an answer in the ZeroClaw page")
}

func (a *attendance) progressed(p tools.Progress) {
	// The protocol wants it to rise.
	a.progress(max(p.Done, a.last+0.0001), p.Total, p.Message)
}

func (a *attendance) progress(done, total float64, text string) {
	if a.token == nil {
		return
	}
	a.last = done
	out := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), a.token...)
	out = append(append(out, `,"progress":`...), number(done)...)
	if total > 0 {
		out = append(append(out, `,"total":`...), number(total)...)
	}
	if text != "" {
		out = appendText(append(out, `,"message":`...), text)
	}
	a.reply.send(append(out, "}}"...))
}

func number(f float64) []byte {
	text, err := json.Marshal(f)
	if err != nil { // infinite, or none
		return []byte("0")
	}
	return text
}
