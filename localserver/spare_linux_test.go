package localserver

import (
	"slices"
	"testing"
)

func TestUnchangedMappings(t *testing.T) {
	const smaps = `00400000-00e30000 r-xp 00000000 fe:00 11067574                           /opt/zero claw
Rss:                8384 kB
Anonymous:             0 kB
00e30000-019b9000 r--p 00a30000 fe:00 11067574                           /opt/zero claw
Anonymous:             0 kB
019b9000-01a00000 r--p 015b9000 fe:00 11067574                           /opt/zero claw
Anonymous:             4 kB
01a00000-01a5f000 rw-p 015b9000 fe:00 11067574                           /opt/zero claw
Anonymous:             0 kB
7f38ebc14000-7f38ebd6a000 r-xp 00026000 fe:00 326269                     /usr/lib/libc.so.6
Anonymous:             0 kB
7f38ec000000-7f38ec001000 rw-p 00000000 00:00 0
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0xa30000}, {0xe30000, 0xb89000}}
	if got := unchanged([]byte(smaps), "/opt/zero claw"); !slices.Equal(got, want) {
		t.Errorf("unchanged = %x, want %x", got, want)
	}
	dropMapped() // and everything works on
}
