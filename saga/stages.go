package saga

import "time"

// Stages are the times of what comes before the first epoch, of a program and of all
// that it has tried.
type Stages struct {
	Order  time.Duration // vertices dealt over the intervals
	Count  time.Duration // sizes of cells counted, for every number of intervals that was tried
	Plan   time.Duration // planning and simulating, without the two above
	Grid   time.Duration // cells built
	Layout time.Duration // inputs laid out
	Open   time.Duration // memory taken and pinned, kernels translated: opening without the two above
}

// Stages are the times so far; what Open does is known after the first epoch.
func (p *Program) Stages() Stages { return p.stages }

// since adds the time since start to d. Callers write defer since(&d, time.Now()).
func since(d *time.Duration, start time.Time) { *d += time.Since(start) }

// HostBytes is what training needs of host memory, in bytes, beside the graph and the
// features as they were given: cells, inputs laid out, and stored values.
func (p *Program) HostBytes() (graph, inputs, stored int64) { return p.train.plan.HostBytes() }

// PinnedBytes is how much host memory is pinned for the copies of GPUs.
func (p *Program) PinnedBytes() int64 {
	if p.session == nil {
		return 0
	}
	return p.session.arena.Pinned()
}
