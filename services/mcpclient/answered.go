package mcpclient

// answerError is about something that the server did answer, or that was never
// sent: the connection works.
type answerError struct{ error }

func (e answerError) Unwrap() error  { return e.error }
func (e answerError) Answered() bool { return true }

// Answered implements what services asks of an error of a Peer.
func (e *rpcError) Answered() bool { return true }
