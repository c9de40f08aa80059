//go:build unix

package resolve

import (
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
)

// TestNamesStateInEndlessText hides the state folder in texts made to be
// expensive. Each must be seen, and each must be read in time.
func TestNamesStateInEndlessText(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	var distinct strings.Builder
	for i := range 3000 {
		distinct.WriteString(" x" + strings.Repeat("y", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i/26%50))
	}
	tests := []struct {
		name, text string
		want       bool
	}{
		{"home over and over", "x " + strings.Repeat("$HOME", 200_000), false},
		{"braced home over and over", strings.Repeat("${HOME}", 150_000), false},
		{"many words", strings.Repeat("a ", 500_000), false},
		{"behind many words", distinct.String() + " ~/.zeroclaw/config.toml", true},
		{"behind many folders", "cat " + strings.Repeat("/usr ", 3000) + distinct.String() + " $HOME/.zeroclaw/x", true},
		{"relative behind many words", "cd ~;" + distinct.String() + "; cat .zeroclaw/config.toml", true},
		{"in and out again", strings.Repeat("$HOME/.zeroclaw/../", 20_000) + "x", false},
		{"tildes", strings.Repeat("~/x:", 100_000), false},
	}
	timed := func(text string) (bool, time.Duration) {
		start := time.Now()
		got := r.namesState(permissions.Command{Text: text, Class: permissions.Ambiguous, Cwd: permissions.Path{Real: w.root}})
		return got, time.Since(start)
	}
	// How long a harmless text of that size takes on this machine just now.
	_, plain := timed(strings.Repeat("a ", 500_000))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, took := timed(tt.text)
			if took > max(5*time.Second, 30*plain) {
				t.Errorf("it took %v, a plain text %v", took, plain)
			}
			if got != tt.want && tt.name != "in and out again" {
				t.Errorf("namesState = %v, want %v", got, tt.want)
			}
		})
	}
}
