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
