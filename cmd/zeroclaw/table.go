package main

import (
	"fmt"
	"io"
	"strings"
)

const (
	gap      = 2  // cells between two columns
	minProse = 24 // cells below which prose gets a line of its own
)

// table is rows of plain columns. The last one is prose: it is cut to the width
// of the screen, or put below its row where the others leave too little room.
// The others are names and states, and never cut.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table for a screen of so many columns.
func (t *table) write(w io.Writer, screen int) {
	last := len(t.head) - 1
	widths := make([]int, last)
	for i := range widths {
		widths[i] = columns(t.head[i])
		for _, r := range t.rows {
			widths[i] = max(widths[i], columns(r[i]))
		}
	}
	left := screen
	for _, n := range widths {
		left -= n + gap
	}
	below := left < minProse
	for i, r := range append([][]string{t.head}, t.rows...) {
		var b strings.Builder
		for j, n := range widths {
			b.WriteString(r[j])
			b.WriteString(strings.Repeat(" ", n-columns(r[j])+gap))
		}
		if !below {
			b.WriteString(cut(r[last], left))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		if below && i > 0 && r[last] != "" {
			fmt.Fprintln(w, "    "+cut(r[last], screen-4))
		}
	}
}
