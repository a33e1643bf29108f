package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"
	"time"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/mine"
)

// tooLong is the time, in seconds, above which an engine is not run: the flag -most.
var tooLong = 10.0

// stop is the seconds after which a count is given up: the flag -stop.
var stop = math.Inf(1)

// engineTable prints, for each pattern, the time of each engine (or only the one given) and the time that
// --explain predicts. It also prints how the engine that auto chooses compares with the best one. The graphs are that
// at data, with its labels, or R-MAT graphs. Counts with one thread are measured in CPU seconds, others by the
// wall clock, without the first run.
func engineTable(data, scales, patterns, device string, threads int, only mine.Engine) error {
	graphs := map[string]*chunk.Edges{}
	var names []string
	var labels []int32
	if data != "" {
		d, err := dataset.Open(data, dataset.Options{})
		if err != nil {
			return err
		}
		names, graphs[data], labels = []string{data}, d.Edges, d.Labels
	} else {
		all, err := numbers(scales)
		if err != nil {
			return fmt.Errorf("-scales %s: %w", scales, err)
		}
		for _, scale := range all {
			name := fmt.Sprint("R-MAT ", scale)
			names, graphs[name] = append(names, name), rmat(scale, 16)
		}
	}
	for _, name := range names {
		fmt.Println(name)
		for _, text := range strings.Split(patterns, ",") {
			if err := enginesOf(graphs[name], labels, text, device, threads, only); err != nil {
				return err
			}
		}
	}
	return nil
}

// enginesOf prints the lines of a pattern.
func enginesOf(edges *chunk.Edges, labels []int32, text, device string, threads int, only mine.Engine) error {
	p, err := mine.ParsePattern(queries(text))
	if err != nil {
		return err
	}
	best, auto := math.Inf(1), 0.0
	var taken mine.Engine
	for _, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops} {
		if only != mine.Auto && engine != only {
			continue
		}
		g, err := mine.Open(edges, mine.Options{Labels: labels, Engine: engine, Device: device, Threads: threads})
		if err != nil {
			return err
		}
		prepared, err := g.Prepare(p)
		if err != nil { // this engine cannot count the pattern
			if err := g.Close(); err != nil {
				return err
			}
			continue
		}
		x, err := prepared.Explain()
		if err != nil {
			return err
		}
		switch {
		case engine == mine.Auto:
			taken = prepared.Engine()
		case x.Seconds > tooLong:
			fmt.Printf("%-10s %-8s %10.4f s expected, not run\n", text, engine, x.Seconds)
		default:
			took, count, err := timed(prepared, device, threads)
			if errors.Is(err, context.DeadlineExceeded) {
				fmt.Printf("%-10s %-8s %10.4f s expected, not done after %g s\n", text, engine, x.Seconds, stop)
				break
			} else if err != nil {
				return err
			}
			fmt.Printf("%-10s %-8s %10.4f s expected %10.4f s taken, %.2f of it  %v\n", text, engine, x.Seconds, took, x.Seconds/took, count)
			if best = min(best, took); engine == taken {
				auto = took
			}
		}
		if err := g.Close(); err != nil {
			return err
		}
	}
	if auto > 0 {
		fmt.Printf("%-10s auto: %s, %.2f of the best\n", text, taken, auto/best)
	}
	return nil
}

// timed counts four times, or fewer if that takes seconds, and returns the least time. On GPUs
// the first run does not count, as it compiles kernels, unless it takes ten seconds.
func timed(p *mine.Prepared, device string, threads int) (best float64, count mine.Total, err error) {
	best = math.Inf(1)
	for i := range 4 {
		cpu, start := cpuSeconds(), time.Now()
		if count, err = countFor(p); err != nil {
			return 0, count, err
		}
		took := time.Since(start).Seconds()
		if device == "" && threads == 1 {
			took = cpuSeconds() - cpu
		}
		if i > 0 || device == "" || took > 10 {
			best = min(best, took)
		}
		if best > 1 && !math.IsInf(best, 1) {
			break
		}
	}
	return best, count, nil
}

// countFor counts, and gives up after -stop seconds.
func countFor(p *mine.Prepared) (mine.Total, error) {
	ctx := context.Background()
	if !math.IsInf(stop, 1) {
		short, cancel := context.WithTimeout(ctx, time.Duration(stop*float64(time.Second)))
		defer cancel()
		ctx = short
	}
	return p.Count(ctx)
}

// cpuSeconds is the CPU seconds that this process has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
