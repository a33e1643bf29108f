package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sagann/chunk"
	"sagann/mine"
)

// scaling prints the wall time of counting on an R-MAT graph by the number of threads, the
// best of three, and how many times as fast the most threads are as the first number.
func scaling(scales, threads, patterns string) error {
	counts, err := numbers(threads)
	if err != nil {
		return fmt.Errorf("-scaling %s: %w", threads, err)
	}
	all, err := numbers(scales)
	if err != nil {
		return fmt.Errorf("-scales %s: %w", scales, err)
	}
	for _, scale := range all {
		edges := rmat(scale, 16)
		for _, name := range strings.Split(patterns, ",") {
			if err := scalingOf(edges, scale, name, counts); err != nil {
				return err
			}
		}
	}
	return nil
}

// scalingOf prints a line for a job.
func scalingOf(edges *chunk.Edges, scale int, name string, counts []int) error {
	p, err := mine.ParsePattern(queries(name))
	if err != nil {
		return err
	}
	fmt.Printf("%2d %-9s", scale, name)
	var first, last float64
	results := map[mine.Total]bool{}
	for _, n := range counts {
		g, err := mine.Open(edges, mine.Options{Threads: n})
		if err != nil {
			return err
		}
		prepared, err := g.Prepare(p)
		if err != nil {
			return err
		}
		x, err := prepared.Explain()
		if err != nil {
			return err
		}
		best := math.Inf(1)
		for range 3 {
			start := time.Now()
			total, err := prepared.Count(context.Background())
			if err != nil {
				return err
			}
			results[total] = true
			if best = min(best, time.Since(start).Seconds()); best > tooLong {
				break
			}
		}
		fmt.Printf("  %d: %s %.3f s, expected %.2f of it", n, prepared.Engine(), best, x.Seconds/best)
		if first == 0 {
			first = best
		}
		last = best
	}
	fmt.Printf("  %.1f times as fast\n", first/last)
	if len(results) > 1 {
		return errors.New("counts differ by the number of threads")
	}
	return nil
}

// numbers reads numbers from 1 on, between commas.
func numbers(text string) (out []int, err error) {
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number from 1 on", s)
		}
		out = append(out, n)
	}
	return out, nil
}
