package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
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
		r, _, err := rows.FromEdges(rmat(scale, 16))
		if err != nil {
			return err
		}
		r = r.ByDegree()
		for _, name := range strings.Split("triangle,diamond,cycle4,clique4,clique5,"+patterns, ",") {
			if err := scalingOf(r, scale, name, counts); err != nil {
				return err
			}
		}
	}
	return nil
}

// scalingOf prints a line for a job.
func scalingOf(r *rows.Rows, scale int, name string, counts []int) error {
	p := pattern.Must(queries(name))
	f, formula := p.Formula()
	pl, _, err := plan.Choose(p, nil, r.Stats(), int64(len(r.Col)), run.Sampler{Rows: r, Seed: 1})
	if err != nil {
		return err
	}
	fmt.Printf("%2d %-9s", scale, name)
	var first, last time.Duration
	results := map[string]bool{}
	for _, n := range counts {
		best := time.Duration(0)
		for range 3 {
			w, start := &run.Run{Rows: r, Workers: n}, time.Now()
			var result string
			switch {
			case p.IsClique() && p.Vertices() > 3:
				total, e := w.Cliques(context.Background(), p.Vertices())
				result, err = total.String(), e
			case formula:
				sums, e := w.Sums(context.Background(), f)
				result, err = fmt.Sprint(sums), e
			default:
				total, e := w.Count(context.Background(), pl)
				result, err = total.String(), e
			}
			if err != nil {
				return err
			}
			results[result] = true
			if took := time.Since(start); best == 0 || took < best {
				best = took
			}
			if best > 10*time.Second {
				break
			}
		}
		fmt.Printf("  %d: %.3f s", n, best.Seconds())
		if first == 0 {
			first = best
		}
		last = best
	}
	fmt.Printf("  %.1f times as fast\n", first.Seconds()/last.Seconds())
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
