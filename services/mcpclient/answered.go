package mcpclient

import "encoding/json"

// answerError is about something that the server did answer, or that was never
// sent: the connection works.
type answerError struct{ error }

func (e answerError) Unwrap() error  { return e.error }
func (e answerError) Answered() bool { return true }

// Answered implements what services asks of an error of a Peer.
func (e *rpcError) Answered() bool { return true }

// JSONRPC implements the same.
func (e *rpcError) JSONRPC() (code int, message string, data json.RawMessage) {
	if e.data != nil {
		data, _ = json.Marshal(e.data) // it was decoded from JSON
	}
	return e.code, e.message, data
}

// Reached tells services that the server itself refused, so that it can be
// connected to.
func (e *wireError) Reached() bool { return e.status > 0 }

// unusableError is about a definition with which nothing can be reached.
type unusableError struct{ error }

func (e unusableError) Unwrap() error { return e.error }
func (e unusableError) Reached() bool { return false }
