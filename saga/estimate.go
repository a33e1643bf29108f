package saga

import (
	"errors"

	"sagann/dataflow/plan"
	"sagann/dataflow/tune"
)

// Planning with estimated sizes of cells first, where counting them for every number of intervals takes long.

// estimateFrom is the number of edges from which the search estimates the sizes of cells from the degrees.
// Counting them takes a pass over the edges for every number of intervals; with fewer edges a pass takes less
// than a second.
var estimateFrom = 1 << 24

// guesses is how many numbers of intervals are tried on counted cells after the search on estimated cells: first
// the number that it chose and, while that does not fit, each time an eighth more.
const guesses = 4

// spared: plans of estimated cells leave one part in so many of the memory free where what just fits by estimates does not with counted cells,
// which are a little larger or smaller, so that the step took up to a fifth longer.
const spared = 200

// estimating plans with decide. On a large graph it does so with estimated cells first, and plans the result, which decide gets then,
// with counted ones.
func (c *chooser) estimating(decide func(from *tune.Decision) (*choice, error)) (*choice, error) {
	if !c.estimates() {
		return decide(nil)
	}
	x, err := decide(nil)
	c.expected = nil
	var small *plan.BudgetError
	switch {
	case err == nil:
		y, err := c.counting(decide, x.decision)
		if err == nil && late(y, x) {
			y, err = c.sparing(decide, y)
		}
		if !errors.As(err, &small) {
			return y, err
		}
	case !errors.As(err, &small):
		return nil, err
	default: // one count of the cells tells that, too, but where it is a near thing
		c.only = small.P
		x, err = decide(nil)
		if c.only = 0; err == nil || errors.As(err, &small) && far(small) {
			return x, err
		}
	}
	return decide(nil)
}

// counting plans d with counted cells.
func (c *chooser) counting(decide func(from *tune.Decision) (*choice, error), d tune.Decision) (x *choice, err error) {
	var small *plan.BudgetError
	k := c.cfg.devices()
	for range guesses {
		if x, err = decide(&d); !errors.As(err, &small) {
			break
		}
		d.P += max(k, d.P/8/k*k)
	}
	return x, err
}

// late tells whether the plan y of counted cells takes longer, by a twentieth, than x, its plan of estimated ones.
func late(y, x *choice) bool {
	return y.line != nil && x.line != nil && y.line.Wall > x.line.Wall+x.line.Wall/20
}

// sparing is the faster one of x and what is found if plans of estimated cells leave a part of the memory free. What just fits with estimated
// cells often does not with counted ones: the rule then keeps something else on the device.
func (c *chooser) sparing(decide func(from *tune.Decision) (*choice, error), x *choice) (*choice, error) {
	c.estimates()
	c.spared = spared
	y, err := decide(nil)
	c.expected, c.spared = nil, 0
	if err == nil {
		y, err = c.counting(decide, y.decision)
	}
	var small *plan.BudgetError
	switch {
	case errors.As(err, &small):
		return x, nil
	case err != nil:
		return nil, err
	case x.line.Wall <= y.line.Wall:
		return x, nil
	}
	return y, nil
}

// estimates makes cellsOf estimate until expected is nil again, where counting cells for every number of intervals takes long.
func (c *chooser) estimates() bool {
	if c.expected != nil || c.cfg.Chunks > 0 || c.edgeCount() < estimateFrom {
		return false
	}
	if c.degrees == nil {
		c.degrees = c.grids.statistics()
	}
	c.expected = c.degrees
	return true
}

// far tells whether a budget is so much too small that estimates cannot be what makes it so.
func far(e *plan.BudgetError) bool { return e.Smallest > e.Budget+e.Budget/8 }

// within is the part of the memory n that plans may use; 0: no bound.
func (c *chooser) within(n int64) int64 {
	if c.spared > 0 {
		n -= n / c.spared
	}
	return n
}

// edgeCount is how many edges the graph has, in all relations.
func (c *chooser) edgeCount() int {
	if k := c.in.kinds; k != nil {
		_, edges := k.totals()
		return int(edges)
	}
	return c.in.EdgeCount()
}
