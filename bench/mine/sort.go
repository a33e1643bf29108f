package mine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"sagann/bench/measure"
	"sagann/device"
	"sagann/mine/cuda"
)

// sorts prints how long the first GPU takes to sort keys that lie in host memory, with a part of them on the GPU at a time, beside two other
// methods. Both lists of keys are pinned before.
func (t *table) sorts(n int) (err error) {
	gpu := t.gpus[0]
	gpu.SetTrace(nil)
	start := time.Now()
	memory, err := gpu.HostAlloc(int64(16 * n))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.HostFree(memory)) }()
	all := device.View[uint64](memory.Bytes())
	keys, out := all[:n], all[n:]
	drawn := drawKeys(keys, t.c.Threads)
	room := t.c.GiB<<30 - 1<<20
	fmt.Printf("%d keys, %d GiB of GPU memory, %d threads; pinned and drawn in %.1f s\n", n, t.c.GiB, t.c.Threads, time.Since(start).Seconds())
	ctx := context.Background()
	for range max(1, t.c.Repeat) {
		for _, way := range []struct {
			name string
			sort func() error
		}{
			{"divided by splitters, then sorted", func() error { return cuda.Sort(ctx, gpu, keys, out, cuda.Sorting{Room: room}) }},
			{"sorted, divided by splitters, sorted again (xtr2sort's)", func() error { return cuda.Sort(ctx, gpu, keys, out, cuda.Sorting{Room: room, Twice: true}) }},
			{"sorted, then merged on the host (naive)", func() error {
				length, err := cuda.SortPieces(ctx, gpu, keys, cuda.Sorting{Room: room})
				if err == nil {
					mergeKeys(keys, out, length, t.c.Threads)
				}
				return err
			}},
		} {
			drawKeys(keys, t.c.Threads)
			before, start := gpu.Counters(), time.Now()
			if err := way.sort(); err != nil {
				return err
			}
			wall, after := time.Since(start).Seconds(), gpu.Counters()
			up, down := float64(after.H2D-before.H2D)/1e9, float64(after.D2H-before.D2H)/1e9
			fmt.Printf("%8.3f s  %6.2f G keys/s  %.1f GB up, %.1f GB down, %.1f GB/s both  %s\n", wall, float64(n)/wall/1e9, up, down, (up+down)/wall, way.name)
			if !slices.IsSorted(out) || mixedSum(out, t.c.Threads) != drawn {
				t.wrong = true
				fmt.Println("WRONG")
			}
		}
	}
	if t.wrong {
		return errors.New("a sort is wrong")
	}
	return nil
}

// parts has f do each of as many parts of n things as there are threads, at the same time.
func parts(n, threads int, f func(part, from, to int)) {
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() { f(i, n/threads*i, n/threads*(i+1)+n%threads*((i+1)/threads)) })
	}
	wg.Wait()
}

// drawKeys draws keys, always the same, and returns their mixedSum.
func drawKeys(keys []uint64, threads int) uint64 {
	parts(len(keys), threads, func(_, from, to int) {
		for i := from; i < to; i++ {
			keys[i] = measure.Mixed(uint64(i))
		}
	})
	return mixedSum(keys, threads)
}

// mixedSum is a checksum of keys that does not depend on their order.
func mixedSum(keys []uint64, threads int) (sum uint64) {
	sums := make([]uint64, threads)
	parts(len(keys), threads, func(part, from, to int) {
		s := uint64(0)
		for _, k := range keys[from:to] {
			s += measure.Mixed(k)
		}
		sums[part] = s
	})
	for _, s := range sums {
		sum += s
	}
	return sum
}

// mergeKeys merges sorted pieces of keys, each thread those between two splitters.
func mergeKeys(keys, out []uint64, length, threads int) {
	pieces := slices.Collect(slices.Chunk(keys, length))
	cut := func(part int) (at []int) { // where a thread's share begins in each piece
		for _, p := range pieces {
			k := ^uint64(0) / uint64(threads) * uint64(part)
			n := len(p)
			if part < threads {
				n = sort.Search(len(p), func(i int) bool { return p[i] >= k })
			}
			at = append(at, n)
		}
		return at
	}
	parts(threads, threads, func(part, _, _ int) {
		from, to, at := cut(part), cut(part+1), 0
		var heap [][]uint64
		for i, p := range pieces {
			at += from[i]
			if from[i] < to[i] {
				heap = append(heap, p[from[i]:to[i]])
			}
		}
		down := func(i int) {
			for x := heap[i]; ; {
				k := 2*i + 1
				if k+1 < len(heap) && heap[k+1][0] < heap[k][0] {
					k++
				}
				if k >= len(heap) || x[0] <= heap[k][0] {
					heap[i] = x
					return
				}
				heap[i], i = heap[k], k
			}
		}
		for i := len(heap) - 1; i >= 0; i-- {
			down(i)
		}
		for len(heap) > 0 {
			out[at] = heap[0][0]
			at++
			if heap[0] = heap[0][1:]; len(heap[0]) == 0 {
				heap[0] = heap[len(heap)-1]
				if heap = heap[:len(heap)-1]; len(heap) == 0 {
					return
				}
			}
			down(0)
		}
	})
}
