package chunk

import (
	"runtime"
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
	for w := range workers {
		wg.Go(func() {
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
