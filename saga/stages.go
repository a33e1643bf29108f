package saga

import "time"

// Stages are the times of what happens before the first epoch, everything that was tried included.
type Stages struct {
	Order  time.Duration // dealing vertices over the intervals
	Count  time.Duration // counting the sizes of cells, for every number of intervals that was tried
	Plan   time.Duration // planning and simulating, without Order and Count
	Grid   time.Duration // building cells
	Layout time.Duration // laying inputs out
	Open   time.Duration // allocating and pinning memory, compiling kernels: opening without Order, Grid and Layout
}

// Stages are the times so far. They are complete after the first epoch.
func (p *Program) Stages() Stages { return p.stages }

// since adds the time since start to d. Callers write defer since(&d, time.Now()).
func since(d *time.Duration, start time.Time) { *d += time.Since(start) }

// HostBytes is how many bytes of host memory training needs in addition to the data set: for cells,
// for inputs in the plan's order, and for stored values.
func (p *Program) HostBytes() (graph, inputs, stored int64) { return p.train.plan.HostBytes() }

// PinnedBytes is how many bytes of host memory are pinned for copies of GPUs.
func (p *Program) PinnedBytes() int64 {
	if p.session == nil {
		return 0
	}
	return p.session.arena.Pinned()
}

// planned adds the time since start to s.Plan, without the time that was added to s.Order and s.Count since before.
func (s *Stages) planned(before Stages, start time.Time) {
	s.Plan += time.Since(start) - (s.Order - before.Order) - (s.Count - before.Count)
}
