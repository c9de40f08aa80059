package shell

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestKeep(t *testing.T) {
	for _, tt := range []struct {
		limit   int
		chunks  []string
		text    string
		omitted int64
		invalid bool
	}{
		{8, nil, "", 0, false},
		{8, []string{"abc"}, "abc", 0, false},
		{8, []string{"abcdefgh"}, "abcdefgh", 0, false},
		{8, []string{"abcdefghi"}, "abcd\n[… 1 bytes left out …]\nfghi", 1, false},
		{8, []string{"abcd", "ef", "ghij", "k"}, "abcd\n[… 3 bytes left out …]\nhijk", 3, false},
		{8, []string{strings.Repeat("x", 100) + "abcd"}, "xxxx\n[… 96 bytes left out …]\nabcd", 96, false},
		{8, []string{"abcé", "f", "gh"}, "abcéfgh", 0, false},
		{8, []string{"abcé....é..."}, "abc\n[… 8 bytes left out …]\n...", 8, false},
		{8, []string{"a\xffb"}, "a\uFFFDb", 0, true},
		{8, []string{"\xff\xff\xff\xff....\xffabc"}, "\uFFFD\n[… 4 bytes left out …]\n\uFFFDabc", 4, true},
	} {
		k := newKeep(tt.limit)
		for _, c := range tt.chunks {
			k.add([]byte(c))
		}
		if got := k.text(); got != (kept{tt.text, tt.omitted, tt.invalid}) {
			t.Errorf("%q: got %+v, want %q %d %v", tt.chunks, got, tt.text, tt.omitted, tt.invalid)
		}
	}
}

// However the bytes come in, what is kept is their start and their end.
func FuzzKeep(f *testing.F) {
	f.Add([]byte("hello, wörld, this is a longer text"), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		k := newKeep(16)
		for rest := b; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			k.add(rest[:n])
			rest = rest[n:]
		}
		got := k.text()
		if !utf8.ValidString(got.text) {
			t.Fatalf("invalid text %q", got.text)
		}
		if len(b) <= 16 {
			if got.omitted != 0 || got.text != strings.ToValidUTF8(string(b), "\uFFFD") {
				t.Fatalf("%q became %+v", b, got)
			}
			return
		}
		if utf8.Valid(b) && !bytes.ContainsRune(b, '…') {
			head, rest, _ := strings.Cut(got.text, "\n[… ")
			_, tail, _ := strings.Cut(rest, " …]\n")
			if !strings.HasPrefix(string(b), head) || !strings.HasSuffix(string(b), tail) || int64(len(head)+len(tail))+got.omitted != int64(len(b)) {
				t.Fatalf("%q became %+v", b, got)
			}
		}
	})
}

// Live output keeps whole lines and characters together, and its bounds.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		l := newLive(func(stream, text string) { events = append(events, stream+":"+text) })
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { l.run(stop); close(done) }()
		feed := func(i int, b string, wait time.Duration) {
			l.add(i, []byte(b))
			time.Sleep(wait)
			synctest.Wait()
		}
		feed(0, "one\ntw", 110*time.Millisecond)
		feed(1, "err", 110*time.Millisecond)
		feed(0, "o\n", 110*time.Millisecond)
		feed(0, "50%\r60%", 110*time.Millisecond)
		feed(0, "\xc3", 600*time.Millisecond)
		feed(0, "\xa9", 600*time.Millisecond)
		feed(0, "rest", 0)
		close(stop)
		<-done
		want := []string{"stdout:one\n", "stdout:two\n", "stdout:50%\r", "stderr:err", "stdout:60%", "stdout:é", "stdout:rest"}
		if !slices.Equal(events, want) {
			t.Errorf("got %q, want %q", events, want)
		}
	})
}

func TestLiveBounds(t *testing.T) {
	var total int
	var last string
	l := newLive(func(_, text string) { total += len(text); last = text })
	line := []byte(strings.Repeat("x", 99) + "\n")
	for range 200 {
		for range 1000 {
			l.add(0, line)
		}
		l.flush(false)
	}
	if total > liveTotal+liveEvent+10000 || !strings.Contains(last, "no more live output") {
		t.Errorf("%d bytes, last %q", total, last[max(0, len(last)-100):])
	}
	newLive(nil).add(0, line) // nobody listens
}
