package mine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/mine"
	"sagann/mine/run"
)

// scaling prints how long counting on an R-MAT graph takes with each number of threads (the
// best of three runs if they are short). For the most threads it prints the speed-up over the
// first number, the share of the time in which threads work, and the ratio of CPU seconds to those of the first
// number. For comparison it runs as many counts at the same time, of one
// thread each on the same rows. They share no work, so only the machine slows them down (clocks, caches,
// memory).
func (c *Command) scaling() error {
	fmt.Printf("a thread takes %.2f of what plan.Core says for small counts\n", run.Speed())
	for _, scale := range c.Scales {
		edges := rmat(scale, 16)
		for _, name := range c.Loops {
			if err := scalingOf(edges, scale, name, c.Scaling); err != nil {
				return err
			}
		}
	}
	return nil
}

// taken is the time of a count.
type taken struct{ wall, cpu float64 }

// scalingOf prints the lines of a job.
func scalingOf(edges *chunk.Edges, scale int, name string, counts []int) error {
	p, err := mine.ParsePattern(queries(name))
	if err != nil {
		return err
	}
	fmt.Printf("%2d %-9s", scale, name)
	var first, last taken
	results := map[mine.Total]bool{}
	for _, n := range counts {
		prepared, expected, err := prepare(edges, p, n)
		if err != nil {
			return err
		}
		best := taken{wall: math.Inf(1)}
		for range 3 {
			start, cpu := time.Now(), measure.CPUSeconds()
			total, err := prepared.Count(context.Background())
			if err != nil {
				return err
			}
			results[total] = true
			if wall := time.Since(start).Seconds(); wall < best.wall {
				best = taken{wall, measure.CPUSeconds() - cpu}
			}
			if best.wall > 2 {
				break
			}
		}
		fmt.Printf("  %d: %s %.4f s, expected %.2f of it", n, prepared.Engine(), best.wall, expected/best.wall)
		if first.wall == 0 {
			first = best
		}
		last = best
	}
	most := counts[len(counts)-1]
	beside, err := sideBySide(edges, p, most)
	if err != nil {
		return err
	}
	fmt.Printf("\n   %.1f times as fast, %.0f %% of the time at work, %.2f CPU s for one; %d counts side by side take %.2f CPU s for one, so %.1f at most\n",
		first.wall/last.wall, 100*last.cpu/(float64(most)*last.wall), last.cpu/first.cpu, most, beside.cpu/float64(most)/first.cpu, float64(most)*first.wall/beside.wall)
	if len(results) > 1 {
		return errors.New("counts differ by the number of threads")
	}
	return nil
}

// prepare prepares a count with so many threads, and returns the expected seconds.
func prepare(edges *chunk.Edges, p mine.Pattern, threads int) (*mine.Prepared, float64, error) {
	g, err := mine.Open(edges, mine.Options{Threads: threads})
	if err != nil {
		return nil, 0, err
	}
	prepared, err := g.Prepare(p)
	if err != nil {
		return nil, 0, err
	}
	x, err := prepared.Explain()
	if err != nil {
		return nil, 0, err
	}
	return prepared, x.Seconds, nil
}

// sideBySide counts n times at once, with one thread each. It returns the mean wall time of a count, and
// the CPU seconds of all counts.
func sideBySide(edges *chunk.Edges, p mine.Pattern, n int) (taken, error) {
	prepared, _, err := prepare(edges, p, 1)
	if err != nil {
		return taken{}, err
	}
	walls, errs := make([]float64, n), make([]error, n)
	cpu := measure.CPUSeconds()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			start := time.Now()
			_, errs[i] = prepared.Count(context.Background())
			walls[i] = time.Since(start).Seconds()
		})
	}
	wg.Wait()
	t := taken{cpu: measure.CPUSeconds() - cpu}
	for _, w := range walls {
		t.wall += w / float64(n)
	}
	return t, errors.Join(errs...)
}
