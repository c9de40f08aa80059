package shellscan

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkScan(b *testing.B) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = g.command()
	}
	i := 0
	for b.Loop() {
		Scan(texts[i%len(texts)])
		i++
	}
}
