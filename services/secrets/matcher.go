package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// matcher finds exact values and shapes in one pass over a text. All of them
// have at least two characters: a table tells at each place of the text whether
// any begins with the two that stand there, which is seldom.
type matcher struct {
	begins [1 << 16 / 64]uint64 // one bit for each pair of bytes
	pairs  map[uint16]*candidates
}

// candidates are what begins with the same two bytes.
type candidates struct {
	exact  []string // the longest first
	shapes []int    // in shapes
}

func pairOf(s string, i int) uint16 { return uint16(s[i])<<8 | uint16(s[i+1]) }

func newMatcher(exact []string) *matcher {
	m := &matcher{pairs: map[uint16]*candidates{}}
	slices.SortFunc(exact, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	for _, value := range slices.Compact(exact) {
		c := m.candidates(value)
		c.exact = append(c.exact, value)
	}
	for i, sh := range shapes {
		c := m.candidates(sh.prefix)
		c.shapes = append(c.shapes, i)
	}
	return m
}

func (m *matcher) candidates(prefix string) *candidates {
	k := pairOf(prefix, 0)
	m.begins[k/64] |= 1 << (k % 64)
	c := m.pairs[k]
	if c == nil {
		c = &candidates{}
		m.pairs[k] = c
	}
	return c
}

// find returns every place of a value or a shape. Places of values that overlap
// are one, so that nothing of either is left.
func (m *matcher) find(s string) (found []span) {
	var looked []int // how far each shape has looked: not further back again
	var few [64]int  // room for it
	last := -1       // of found, the last place of a value
	for i := 0; i+1 < len(s); i++ {
		k := pairOf(s, i)
		if m.begins[k/64]&(1<<(k%64)) == 0 {
			continue
		}
		c := m.pairs[k]
		for _, value := range c.exact {
			if !strings.HasPrefix(s[i:], value) {
				continue
			}
			if end := i + len(value); last >= 0 && i < found[last].end {
				found[last].end = max(found[last].end, end)
			} else {
				last = len(found)
				found = append(found, span{i, end})
			}
			break
		}
		if looked == nil && len(c.shapes) > 0 {
			looked = append(few[:0], make([]int, len(shapes))...)
		}
		for _, n := range c.shapes {
			sh := &shapes[n]
			if i < looked[n] || !strings.HasPrefix(s[i:], sh.prefix) {
				continue
			}
			one, ok, next := sh.at(s, i)
			if looked[n] = next; ok {
				found = append(found, one)
			}
		}
	}
	return found
}
