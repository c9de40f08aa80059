package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// person says which of the standard streams somebody sits at.
type person struct {
	answers bool       // both standard input and standard error are a terminal: questions can be put here
	reads   bool       // standard output is a terminal
	columns func() int // of that terminal, 0 where there is none
	discard func()     // forgets what was typed and not read yet
}

func systemPerson() person {
	out := int(os.Stdout.Fd())
	p := person{
		reads:   term.IsTerminal(out),
		answers: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		discard: func() { discardTyped(os.Stdin) },
	}
	p.columns = func() int {
		n, _, err := term.GetSize(out)
		if err != nil {
			return 0
		}
		return n
	}
	return p
}

// Widths of what is printed, in cells.
const (
	plainScreen    = 80 // where no terminal says how wide it is
	narrowestTable = 40
)

// screen is how wide tables may be.
func (e environment) screen() int {
	if e.person.reads && e.person.columns != nil {
		if n := e.person.columns(); n > 0 {
			return max(n, narrowestTable)
		}
	}
	return plainScreen
}

// maxTyped bounds one line that somebody types, in bytes.
const maxTyped = 64 << 10

// typedLine is one line that somebody typed, and when it had arrived.
type typedLine struct {
	text string
	at   time.Time
}

// typed reads what a person types, line by line, until the input or ctx ends. A
// read cannot be interrupted, so the goroutine may outlast ctx: on a terminal by
// what is left of the process. It is begun only for a question, because a
// program in the background that reads its terminal is halted.
func typed(ctx context.Context, in io.Reader) <-chan typedLine {
	lines := make(chan typedLine)
	go func() {
		defer close(lines)
		stamped := &stampedReader{in: in}
		s := bufio.NewScanner(stamped)
		s.Buffer(nil, maxTyped)
		for s.Scan() {
			select {
			case lines <- typedLine{strings.TrimRight(s.Text(), "\r"), stamped.at}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// stampedReader knows when it last got something.
type stampedReader struct {
	in io.Reader
	at time.Time
}

func (r *stampedReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.at = time.Now()
	return n, err
}
