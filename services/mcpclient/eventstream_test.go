package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// readEvents reads a whole stream; each event becomes one line.
func readEvents(from io.Reader, limit int64) (out []string, end error) {
	r := &eventReader{from: from, limit: limit}
	for {
		e, err := r.next()
		var long *oversized
		switch {
		case errors.As(err, &long):
			out = append(out, "too long")
		case err != nil:
			return out, err
		default:
			text := fmt.Sprintf("%s|%s", e.name, e.data)
			if e.hasID {
				text += "|id " + e.id
			}
			if e.retry > 0 {
				text += "|retry " + e.retry.String()
			}
			out = append(out, text)
		}
	}
}

func TestEventReader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"one", "data: a\n\n", "|a"},
		{"no blank line", "data: a\n", ""},
		{"no space", "data:a\n\n", "|a"},
		{"two spaces", "data:  a\n\n", "| a"},
		{"colons", "data::\n\n", "|:"},
		{"lines", "data: a\ndata:b\ndata: c\n\n", "|a\nb\nc"},
		{"crlf", ": hello\r\nevent: message\r\ndata: a\r\ndata:b\r\n\r\n", "message|a\nb"},
		{"cr", "data: a\rdata: b\r\rdata: c\r\r", "|a\nb;|c"},
		{"mixed", "data: a\r\n\ndata: b\n\r\n", "|a;|b"},
		{"mark", "\xef\xbb\xbfdata: a\n\n", "|a"},
		{"names", "event: endpoint\ndata: /x\n\ndata: y\n\n", "endpoint|/x;|y"},
		{"id and retry", "id: 7\nretry: 1500\ndata:\n\n", "||id 7|retry 1.5s"},
		{"id alone", "id: 7\n\n", "||id 7"},
		{"id with NUL", "id: a\x00b\ndata: x\n\n", "|x"},
		{"bad retry", "retry: soon\ndata: x\n\n", "|x"},
		{"empty data", "data\n\ndata:\n\ndata: \n\n", "|;|;|"},
		{"other fields", "dat: 1\ndatum: 2\nDATA: 3\ndata2: 4\n\n", ""},
		{"comments", ": a\n:\n\n: data: no\ndata: yes\n\n", "|yes"},
		{"fits", "data: 123456789\n\n", "|123456789"},
		{"too long", "data: 12345678901\n\ndata: b\n\n", "too long;|b"},
		{"too long in lines", "data: 123456\ndata: 789012\ndata: {}\n\ndata: b\n\n", "too long;|b"},
		{"its suffix is no event", "data: 12345678901\ndata: {\"id\":1}\n\ndata: b\n\n", "too long;|b"},
		{"long comment", ":" + strings.Repeat("x", 100_000) + "\ndata: b\n\n", "|b"},
		{"long field", "event: " + strings.Repeat("x", 100_000) + "\ndata: b\n\n", "*|b"},
	} {
		got, err := readEvents(strings.NewReader(tt.in), 10)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", tt.name, err)
		}
		joined := strings.Join(got, ";")
		if tt.name == "long field" && len(joined) < 2*maxField {
			joined = "*|b"
		}
		if joined != tt.want {
			t.Errorf("%s = %q, want %q", tt.name, joined, tt.want)
		}
		bytewise, _ := readEvents(iotest.OneByteReader(strings.NewReader(tt.in)), 10)
		if fmt.Sprint(bytewise) != fmt.Sprint(got) {
			t.Errorf("%s byte by byte = %q, want %q", tt.name, bytewise, got)
		}
	}
}

// An endless line is told of as soon as it is too long.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	pr, pw := io.Pipe()
	defer pr.Close()
	go func() {
		fmt.Fprint(pw, "data: ")
		for {
			if _, err := pw.Write(bytes.Repeat([]byte("a"), 4096)); err != nil {
				return
			}
		}
	}()
	r := &eventReader{from: pr, limit: 64 << 10}
	done := make(chan error, 1)
	go func() { _, err := r.next(); done <- err }()
	select {
	case err := <-done:
		var long *oversized
		if !errors.As(err, &long) || len(long.head) < 100 || len(long.head) > 2*keepHead {
			t.Errorf("next = %v", err)
		}
	case <-time.After(slowdown * 5 * time.Second):
		t.Fatal("it is never told of")
	}
}

func TestReadAtMost(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 300_000)
	for _, tt := range []struct {
		length, limit int64
		long          bool
	}{{-1, 300_000, false}, {300_000, 300_000, false}, {100, 300_000, false}, {299_999, 300_000, false}, {1 << 40, 1 << 41, false},
		{-1, 299_999, true}, {300_000, 299_999, true}, {0, 10, true}} {
		if tt.length == 1<<40 {
			continue // a promise that large is refused by the limit of a definition
		}
		got, err := readAtMost(strings.NewReader(text), tt.length, tt.limit)
		var long *oversized
		if tt.long != errors.As(err, &long) || !tt.long && string(got) != text {
			t.Errorf("length %d, limit %d: %d bytes, %v", tt.length, tt.limit, len(got), err)
		}
	}
}

func FuzzEventReader(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "data: a\r\ndata:b\r\n\r\n", "id: 1\nretry: 5\r\rdata\r\n\n", ":\n\xef\xbb\xbfdata: x\n\n", "data: 12345678901234567890\n\ndata:b\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, _ := readEvents(bytes.NewReader(in), 16)
		bytewise, _ := readEvents(iotest.OneByteReader(bytes.NewReader(in)), 16)
		half, _ := readEvents(iotest.HalfReader(bytes.NewReader(in)), 16)
		if fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", bytewise) || fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", half) {
			t.Errorf("%q is read in three ways: %q, %q and %q", in, whole, bytewise, half)
		}
		for _, e := range whole {
			if len(e) > 16+2*maxField+100 {
				t.Errorf("an event of %d bytes", len(e))
			}
		}
	})
}
