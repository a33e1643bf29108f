package quality

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// comparison prints cases as they are planned and, if there is another table, compares them with it.
type comparison struct {
	w        io.Writer
	old      map[string]*result // nil: nothing is compared
	logs     float64            // sum of log(new ÷ old)
	ratios   int                // number of terms of logs
	worst    float64            // largest ratio
	worstOf  *problem
	lost     []string // cases that do not fit any more
	unknown  []string // cases that the other table does not have
	wall     float64
	cpu, was float64 // processor seconds, and those of the other table
	peak     int64
}

func newComparison(w io.Writer, old map[string]*result) *comparison {
	fmt.Fprintf(w, "%-42s %13s %13s %8s %8s %8s %8s %6s\n", "case", "old s", "new s", "new/old", "wall s", "cpu s", "old cpu", "MB")
	return &comparison{w: w, old: old}
}

// add prints one case and counts it.
func (c *comparison) add(p *problem, r *result) {
	c.wall, c.cpu, c.peak = c.wall+r.wall, c.cpu+r.cpu, max(c.peak, r.peak)
	before, ratio, cpu := "", "", ""
	old := c.old[p.name]
	switch {
	case c.old == nil:
	case old == nil:
		c.unknown = append(c.unknown, p.name)
		before = "not there"
	default:
		before, cpu = simulated(old), fmt.Sprintf("%.2f", old.cpu)
		c.was += old.cpu
		if old.seconds > 0 && r.seconds == 0 {
			c.lost = append(c.lost, p.name)
		}
		if old.seconds > 0 && r.seconds > 0 {
			x := r.seconds / old.seconds
			ratio = fmt.Sprintf("%.4f", x)
			c.logs, c.ratios = c.logs+math.Log(x), c.ratios+1
			if x > c.worst {
				c.worst, c.worstOf = x, p
			}
		}
	}
	fmt.Fprintf(c.w, "%-42s %13s %13s %8s %8.2f %8.2f %8s %6.0f\n", p.name, before, simulated(r), ratio, r.wall, r.cpu, cpu, float64(r.peak)/1e6)
}

func simulated(r *result) string {
	if r.seconds == 0 {
		return "does not fit"
	}
	return fmt.Sprintf("%.6f", r.seconds)
}

// verdict prints the summary of all cases. It is an error if the mean or the worst case is above its bound.
func (c *comparison) verdict(mean, worst float64) error {
	fmt.Fprintf(c.w, "\nplanning took %.0f s, %.0f s of processors, and at most %.0f MB\n", c.wall, c.cpu, float64(c.peak)/1e6)
	if c.old == nil {
		return nil
	}
	fmt.Fprintf(c.w, "the other table's took %.0f s of processors\n", c.was)
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if c.ratios > 0 {
		m := math.Exp(c.logs / float64(c.ratios))
		fmt.Fprintf(c.w, "new ÷ old of %d cases: geometric mean %.5f, worst %.4f (%s)\n  %s\n", c.ratios, m, c.worst, c.worstOf.name, c.worstOf.command())
		if m > mean {
			bad("the geometric mean %.5f is above %v", m, mean)
		}
		if c.worst > worst {
			bad("%s is %.4f times as slow, above %v", c.worstOf.name, c.worst, worst)
		}
	}
	for _, name := range c.lost {
		bad("%s does not fit any more", name)
	}
	for _, name := range c.unknown {
		bad("the other table does not have %s", name)
	}
	return errors.Join(errs...)
}
