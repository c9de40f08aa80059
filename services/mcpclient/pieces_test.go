package mcpclient

import (
	"bytes"
	"testing"
)

// Whatever the sizes, what was added comes out, and the ends of it are known.
func TestPieces(t *testing.T) {
	for _, size := range []int{0, 1, firstPiece, firstPiece + 1, largePiece * 3, longTotal - 1, longTotal, longTotal + 1, 5 << 20, maxLine, maxLine + 1, maxLine + longTotal} {
		for _, step := range []int{32 << 10, 100_003, 3 << 20} {
			want := make([]byte, size)
			for i := range want {
				want[i] = byte(i * 7 / 3)
			}
			var c pieces
			for from := 0; from < size; from += step {
				c.add(want[from:min(from+step, size)])
			}
			if c.size != size {
				t.Errorf("%d in steps of %d: size is %d", size, step, c.size)
			}
			if head, tail := c.head(keepHead), c.tail(keepTail); !bytes.Equal(head[:min(len(head), keepHead)], want[:min(size, keepHead)]) || !bytes.Equal(tail, want[size-min(size, keepTail):]) {
				t.Errorf("%d in steps of %d: the ends differ", size, step)
			}
			if got := c.take(); !bytes.Equal(got, want) {
				t.Errorf("%d in steps of %d: %d bytes came out, or others", size, step, len(got))
			}
			if c.size != 0 || c.list != nil {
				t.Errorf("%d in steps of %d: %d bytes are left", size, step, c.size)
			}
		}
	}
}
