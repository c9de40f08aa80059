package tools

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Faults holds the first panic of the goroutines that work for one call, so
// that it ends that call instead of the companion. The zero value is ready.
// Each goroutine defers Catch; who waits for them calls Raise then.
type Faults struct{ first atomic.Pointer[fault] }

// fault is a panic that happened in another goroutine. It holds no value: what
// a panic says may hold what it was given.
type fault struct {
	kind  string
	stack []byte
}

// Catch takes a panic. It has to be deferred itself.
func (f *Faults) Catch() {
	if p := recover(); p != nil {
		f.first.CompareAndSwap(nil, faultOf(p))
	}
}

// Caught reports whether there was a panic.
func (f *Faults) Caught() bool { return f.first.Load() != nil }

// Raise panics in turn if there was a panic.
func (f *Faults) Raise() {
	if p := f.first.Load(); p != nil {
		panic(p)
	}
}

// faultOf is what is known of a recovered panic, wherever it happened.
func faultOf(p any) *fault {
	if f, ok := p.(*fault); ok {
		return f
	}
	return &fault{fmt.Sprintf("%T", p), debug.Stack()}
}
