package main

import (
	"slices"
	"strings"
)

// farthest is how many bytes two names may differ in to be taken for one another.
const farthest = 6

// nearest returns up to three of the known names that somebody who wrote name
// may have meant, the likeliest first. A known name is met by its end too: a
// tool of a server is often called by the server's own name for it.
func nearest(name string, known []string) []string {
	type guess struct {
		name string
		far  int
	}
	lower := strings.ToLower(name)
	var all []guess
	for _, k := range known {
		low := strings.ToLower(k)
		far := distance(lower, low)
		if len(lower) >= 3 && (strings.HasSuffix(low, "_"+lower) || strings.HasPrefix(low, lower)) {
			far = min(far, 1)
		}
		if far <= min(max(2, len(name)/4), farthest) {
			all = append(all, guess{k, far})
		}
	}
	slices.SortFunc(all, func(a, b guess) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	all = slices.Compact(all)
	var out []string
	for _, g := range all[:min(3, len(all))] {
		if g.far > all[0].far+1 {
			break
		}
		out = append(out, g.name)
	}
	return out
}

// distance is how many bytes must be put in, taken out or replaced to make b of
// a. Names longer than a tool's can be are not worth the work.
func distance(a, b string) int {
	const longest = 256
	if len(a) > longest || len(b) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			keep := diagonal
			if a[i] != b[j] {
				keep++
			}
			diagonal = row[j+1]
			row[j+1] = min(keep, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
