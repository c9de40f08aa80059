package session

import (
	"strings"
	"testing"
)

func TestWordwiseKeepsWordsWhole(t *testing.T) {
	tests := []struct {
		pieces []string
		want   string // emitted, pieces parted by |
	}{
		{[]string{"key=hunt", "er2 and\n"}, "key=hunter2 and\n"},
		{[]string{"hunter", "2", "\nrest"}, "hunter2\n"},
		{[]string{"a b", " c\n"}, "a |b c\n"},
		{[]string{strings.Repeat("x", maxHeld), "yy"}, strings.Repeat("x", maxHeld) + "yy"},
		{[]string{""}, ""},
	}
	for _, tt := range tests {
		var got []string
		w := newWordwise(func(_, text string) { got = append(got, text) })
		for _, p := range tt.pieces {
			w.write("stdout", p)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%q came out as %q, want %q", tt.pieces, s, tt.want)
		}
	}
}

func TestOutputKeepsItsEnd(t *testing.T) {
	var o output
	for i := range 3 {
		if at := o.add(Piece{"stdout", "abc"}); at != int64(3*i) {
			t.Errorf("piece %d stands at %d", i, at)
		}
	}
	if len(o.pieces) != 3 || o.end != 9 {
		t.Errorf("%d pieces up to %d", len(o.pieces), o.end)
	}
	if at := o.add(Piece{"stderr", strings.Repeat("x", maxOutput)}); at != 9 || len(o.pieces) != 1 || o.end != 9+maxOutput {
		t.Errorf("after much more: at %d, %d pieces up to %d", at, len(o.pieces), o.end)
	}
	o.add(Piece{"stdout", "end"})
	if len(o.pieces) != 1 || o.pieces[0].Text != "end" {
		t.Errorf("%d pieces are kept, the last %q", len(o.pieces), o.pieces[len(o.pieces)-1].Text)
	}
}
