package mine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/dataset"
	"sagann/mine"
)

// compared are the engines that engineTable compares.
var compared = []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops}

// engineTable prints, for each pattern, the time of each engine (or only the one given) and the time that
// --explain predicts. It also prints how the engine that auto chooses compares with the best one. The graphs are that
// at data, with its labels, or R-MAT graphs. Counts with one thread are measured in CPU seconds, others by the
// wall clock, without the first run.
func (c *Command) engineTable() error {
	graphs := map[string]*chunk.Edges{}
	var names []string
	var labels []int32
	if c.Data != "" {
		d, err := dataset.Open(c.Data, dataset.Options{})
		if err != nil {
			return err
		}
		names, graphs[c.Data], labels = []string{c.Data}, d.Edges, d.Labels
	} else {
		for _, scale := range c.Scales {
			name := fmt.Sprint("R-MAT ", scale)
			names, graphs[name] = append(names, name), rmat(scale, 16)
		}
	}
	for _, name := range names {
		fmt.Println(name)
		for _, text := range c.Engines {
			if err := c.enginesOf(graphs[name], labels, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// enginesOf prints the lines of a pattern.
func (c *Command) enginesOf(edges *chunk.Edges, labels []int32, text string) error {
	p, err := mine.ParsePattern(queries(text))
	if err != nil {
		return err
	}
	best, auto := math.Inf(1), 0.0
	var taken mine.Engine
	for _, engine := range compared {
		if only := mine.Engine(c.Engine); only != mine.Auto && engine != only {
			continue
		}
		g, err := mine.Open(edges, mine.Options{Labels: labels, Engine: engine, Device: c.Device, Threads: c.Threads})
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
		case x.Seconds > c.Most:
			fmt.Printf("%-10s %-8s %10.4f s expected, not run\n", text, engine, x.Seconds)
		default:
			took, count, err := c.timed(prepared)
			if errors.Is(err, context.DeadlineExceeded) {
				fmt.Printf("%-10s %-8s %10.4f s expected, not done after %g s\n", text, engine, x.Seconds, c.Stop)
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
func (c *Command) timed(p *mine.Prepared) (best float64, count mine.Total, err error) {
	best = math.Inf(1)
	for i := range 4 {
		cpu, start := measure.CPUSeconds(), time.Now()
		if count, err = c.countFor(p); err != nil {
			return 0, count, err
		}
		took := time.Since(start).Seconds()
		if c.Device == "" && c.Threads == 1 {
			took = measure.CPUSeconds() - cpu
		}
		if i > 0 || c.Device == "" || took > 10 {
			best = min(best, took)
		}
		if best > 1 && !math.IsInf(best, 1) {
			break
		}
	}
	return best, count, nil
}

// countFor counts, and gives up after --stop seconds.
func (c *Command) countFor(p *mine.Prepared) (mine.Total, error) {
	ctx := context.Background()
	if c.Stop > 0 {
		short, cancel := context.WithTimeout(ctx, time.Duration(c.Stop*float64(time.Second)))
		defer cancel()
		ctx = short
	}
	return p.Count(ctx)
}
