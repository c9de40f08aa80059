package localserver

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// listen takes the wanted port, or a free one with a plain message when some
// other program has it or the system does not give it away.
func (s *Server) listen() (net.Listener, error) {
	want := cmp.Or(s.config.Port, s.file.Current().Server.Port)
	if want == AnyPort {
		want = 0
	}
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(want)))
	if err == nil {
		return ln, nil
	}
	code, why := portProblem(want, err)
	if code == "" {
		return nil, fmt.Errorf("listen on port %d of 127.0.0.1: %w", want, err)
	}
	ln, second := net.Listen("tcp4", "127.0.0.1:0")
	if second != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w", second)
	}
	s.problem(code, fmt.Sprintf("%s, so the companion took port %d for this run", why, ln.Addr().(*net.TCPAddr).Port))
	return ln, nil
}

// portProblem says why a port cannot be had although others can; code is "" for
// an error that no other port would mend.
func portProblem(port int, err error) (code, why string) {
	switch {
	case errors.Is(err, errPortInUse):
		return "port_taken", fmt.Sprintf("port %d belongs to another program", port)
	case errors.Is(err, errPortDenied) || errors.Is(err, os.ErrPermission):
		return "port_denied", fmt.Sprintf("the system does not let this user open port %d", port)
	}
	return "", ""
}
