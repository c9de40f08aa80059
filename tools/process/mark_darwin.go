package process

// runOf: nothing carries a mark here.
func runOf(uint64) uint64 { return 0 }
