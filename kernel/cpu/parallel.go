package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"

	"sagann/chunk"
	"sagann/internal/simd"
)

// workersFor is how many workers n parts keep busy.
func workersFor(n int) int { return min(runtime.GOMAXPROCS(0), n) }

// parallel calls f(worker, i) for every i in [0, n), with so many workers.
// The result of f must depend on i only and not on the worker, so that results are the same
// for any number of workers.
func parallel(workers, n int, f func(worker, i int)) {
	if workers <= 1 {
		defer simd.FlushSubnormals()()
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var held chunk.Panics
	loop := func(w int) {
		defer held.Hold()
		defer simd.FlushSubnormals()()
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(w, i)
		}
	}
	for w := 1; w < workers; w++ {
		wg.Add(1)
		go func() { defer wg.Done(); loop(w) }()
	}
	loop(0)
	wg.Wait()
	held.Raise()
}
