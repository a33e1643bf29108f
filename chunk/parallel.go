package chunk

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// This file has loops that run on all processors. The result must not depend on how the work
// is cut or in which order the pieces run.

// Each calls f for every i in 0..n-1, from as many goroutines as GOMAXPROCS
// allows, and returns when all calls have.
func Each(n int, f func(i int)) { eachOf(processors(), n, func(_, i int) { f(i) }) }

// Ranges cuts 0..n-1 into ranges and calls f for each, in parallel as Each does.
func Ranges(n int, f func(lo, hi int)) {
	k := pieces(n, 1<<12)
	Each(k, func(i int) { f(cut(n, k, i), cut(n, k, i+1)) })
}

// First cuts 0..n-1 into ranges, calls find for each in parallel, and returns the lowest index that a
// call found, or -1. find returns the lowest index in its range that it looks for, or -1.
func First(n int, find func(lo, hi int) int) int {
	best := atomic.Int64{}
	best.Store(int64(n))
	Ranges(n, func(lo, hi int) {
		if int64(lo) >= best.Load() {
			return
		}
		i := int64(find(lo, hi))
		for b := best.Load(); i >= 0 && i < b; b = best.Load() {
			if best.CompareAndSwap(b, i) {
				return
			}
		}
	})
	if i := int(best.Load()); i < n {
		return i
	}
	return -1
}

func processors() int { return runtime.GOMAXPROCS(0) }

// eachOf calls f for every i in 0..n-1 from up to workers goroutines, numbered
// from 0. A worker makes one call at a time, so each can have scratch of its own.
func eachOf(workers, n int, f func(worker, i int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var held Panics
	for w := range workers {
		wg.Go(func() {
			defer held.Hold()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(w, i)
			}
		})
	}
	wg.Wait()
	held.Raise()
}

// Panics keeps the first panic of several goroutines for the one that waits for them, so that whoever called it can
// recover from it.
type Panics struct{ first atomic.Pointer[Panic] }

// Hold must be deferred by each of the goroutines.
func (h *Panics) Hold() {
	if r := recover(); r != nil {
		h.first.CompareAndSwap(nil, newPanic(r))
	}
}

// Raise panics with the *Panic that was kept, if there is one.
func (h *Panics) Raise() {
	if p := h.first.Load(); p != nil {
		panic(p)
	}
}

// Panic is a panic as an error.
type Panic struct {
	Value any    // of the call of panic
	Stack []byte // of the goroutine that panicked
}

func newPanic(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{r, debug.Stack()}
}

// Error is the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Unwrap is the value if that is an error.
func (p *Panic) Unwrap() error { err, _ := p.Value.(error); return err }

// Try calls f on a goroutine that must not end the process. If f panics, the error is a *Panic.
func Try(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = newPanic(r)
		}
	}()
	return f()
}

// pieces is how many ranges to cut n items into: a few for each processor, so
// that a slow one does not delay the end, but with at least grain items each.
func pieces(n, grain int) int {
	if processors() == 1 {
		return 1
	}
	return max(1, min(n/grain, 8*processors()))
}

// cut is where range i of k ranges over n things begins.
func cut(n, k, i int) int { return int(int64(n) * int64(i) / int64(k)) }
