package mine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// ErrBusy says that a listing is still using the GPUs: the loop over Match has not ended.
var ErrBusy = errors.New("mine: the GPUs are taken by a listing: end its loop first")

// gpus are the GPUs of a graph. They are opened when they are first needed, and only one call
// at a time may use them.
type gpus struct {
	spec string

	mu      sync.Mutex
	list    []device.GPU
	limit   int64       // bytes that may be taken on each GPU
	kept    int64       // bytes of it that stored rows take, at most
	on      *cuda.Graph // the graph that was uploaded; nil: none
	rows    *rows.Rows  // the rows of on
	layout  cuda.Layout
	use     sync.Mutex
	listing bool // a listing uses the GPUs; guarded by mu
}

// openGPUs opens the GPUs that spec names, each with a budget of so many bytes; 0: up to nine tenths
// of the free memory, taken as it is used. limit is the budget. Tests replace this function.
var openGPUs = func(spec string, bytes int64) (list []device.GPU, limit int64, err error) {
	if err := device.Shared(spec); err != nil {
		return nil, 0, err
	}
	var opts []device.Option
	if bytes == 0 {
		if bytes, err = freeMemory(spec); err != nil {
			return nil, 0, err
		}
		if n, err := device.Count(spec); err == nil && n == 1 { // several copy to each other
			opts = append(opts, device.AsUsed())
		}
	}
	devices, err := device.Open(spec, bytes, opts...)
	if err != nil {
		return nil, 0, err
	}
	for _, d := range devices {
		gpu, ok := d.(device.GPU)
		if !ok {
			return nil, 0, fmt.Errorf("device %q is not a GPU", spec)
		}
		list = append(list, gpu)
	}
	return list, bytes, nil
}

// freeMemory is the least that one of the GPUs has for an arena.
func freeMemory(spec string) (int64, error) {
	_, index, err := device.Parse(spec)
	if err != nil {
		return 0, err
	}
	system, err := device.CUDASystem()
	if err != nil {
		return 0, err
	}
	least := int64(-1)
	for _, i := range index {
		card, err := system.Card(i)
		if err != nil {
			return 0, err
		}
		if room := card.Arena(); least < 0 || room < least {
			least = room
		}
	}
	return least, nil
}

// open opens the GPUs.
func (x *gpus) open(mem int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.list != nil {
		return nil
	}
	var err error
	if x.list, x.limit, err = openGPUs(x.spec, mem); err != nil {
		return fmt.Errorf("mine: %w", err)
	}
	return nil
}

// with calls f with the graph on the GPUs, laid out as wanted.
func (x *gpus) with(r *rows.Rows, l cuda.Layout, listing bool, f func(g *cuda.Graph) error) error {
	if x.busy() {
		return ErrBusy
	}
	x.use.Lock()
	defer x.use.Unlock()
	x.mu.Lock()
	x.listing = listing
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.listing = false
		x.mu.Unlock()
	}()
	if x.on != nil && (x.rows != r || x.layout != l) {
		on := x.on
		x.on = nil
		if err := on.Free(); err != nil {
			return err
		}
	}
	if x.on == nil {
		on, err := cuda.Upload(x.list, r, l)
		if err != nil {
			return fmt.Errorf("mine: the graph on the GPUs: %w", err)
		}
		x.on, x.rows, x.layout = on, r, l
	}
	return f(x.on)
}

// alone calls f while nothing else uses the GPUs, without a graph on them.
func (x *gpus) alone(f func() error) error {
	if x.busy() {
		return ErrBusy
	}
	x.use.Lock()
	defer x.use.Unlock()
	if on := x.on; on != nil {
		x.on = nil
		if err := on.Free(); err != nil {
			return err
		}
	}
	return f()
}

// keeps adds to the bytes that stored rows take on each GPU, at most, and returns them.
func (x *gpus) keeps(more int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept += more
	return x.kept
}

// busy reports whether a listing uses the GPUs. A call inside its loop must not wait for its end.
func (x *gpus) busy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.listing
}

// Close frees the GPUs. While they list, it fails with ErrBusy. Without GPUs it does nothing. The graph must not be
// used after it has succeeded.
func (g *Graph) Close() (err error) {
	x := g.gpus
	if x == nil {
		return nil
	}
	if x.busy() {
		return ErrBusy
	}
	x.use.Lock()
	defer x.use.Unlock()
	if x.on != nil {
		err = x.on.Free()
		x.on = nil
	}
	for _, d := range x.list {
		err = errors.Join(err, d.Close())
	}
	x.list = nil
	return err
}

// need is the memory that work takes: with threads, or on each GPU between least and most bytes beside a part of the rows.
type need struct {
	what        string
	fixed, each int64 // shared by all threads, and of each
	rows        *rows.Rows
	part        cuda.Part
	gpu         func(chip cuda.Chip) (least, most int64) // nil: it is work for threads
}

// place is where work runs. What cannot fit is a BudgetError.
func (g *Graph) place(n need) (place, error) {
	if g.gpus == nil || n.gpu == nil {
		return g.workers(n.fixed, n.each, n.what)
	}
	if err := g.gpus.open(g.opt.Mem); err != nil {
		return place{}, err
	}
	least, most := n.gpu(cuda.ChipOf(g.gpus.list[0]))
	f, ok := cuda.Divide(n.rows, n.part, g.gpus.limit-g.gpus.keeps(0), least, most)
	if !ok {
		return place{}, &BudgetError{Mem: g.gpus.limit, Smallest: f.Smallest + g.gpus.keeps(0), What: n.what}
	}
	return place{gpu: true, layout: f.Layout, room: f.Room, bytes: f.Bytes, resident: f.Layout.Resident(n.rows)}, nil
}

// wide reports whether a vertex has more neighbours above it than the kernels can handle
// (see cuda.Widest).
func (g *Graph) wide(r *rows.Rows) (bool, error) {
	if err := g.gpus.open(g.opt.Mem); err != nil {
		return false, err
	}
	return r.MaxAbove > cuda.Widest(cuda.ChipOf(g.gpus.list[0]).Shared), nil
}

// formulaPlace is where sums of a formula are computed, with a part of the rows on the GPUs, which may be more than it needs. ok is
// false if the graph has GPUs and they cannot do the work.
func (g *Graph) formulaPlace(part cuda.Part, r *rows.Rows, f pattern.Formula, what string) (p place, ok bool, err error) {
	n := need{what: what, rows: r, part: part}
	shared, each := run.SumsNeed(r, f)
	n.fixed, n.each = g.rowsNeed()+shared, each
	if g.gpus != nil && cuda.Kernels(f) {
		if wide, err := g.wide(r); err != nil || wide && cuda.Rooted(f) {
			return p, false, err
		}
		n.gpu = func(chip cuda.Chip) (int64, int64) { return cuda.SumsNeed(r, f, chip, len(g.gpus.list)) }
	}
	p, err = g.place(n)
	return p, true, err
}

// mapsPlace is the place where all these kinds of maps are counted, one after the other; work is
// the work of all of them.
func (g *Graph) mapsPlace(r *rows.Rows, all []*plan.Maps, work plan.MapsWork) (p place, err error) {
	n := need{what: "counting maps", fixed: g.rowsNeed(), rows: r, part: cuda.Whole}
	shared := int64(0)
	for _, m := range all {
		s, e := run.MapsNeed(m, work, r)
		shared, n.each = max(shared, s), max(n.each, e)
	}
	n.fixed += shared
	n.gpu = func(chip cuda.Chip) (least, most int64) {
		for _, m := range all {
			l, h := cuda.MapsNeed(m, r, chip)
			least, most = max(least, l), max(most, h)
		}
		return least, most
	}
	return g.place(n)
}

// sums computes the quantities of a formula.
func (g *Graph) sums(ctx context.Context, r *rows.Rows, f pattern.Formula, p place, report func(float64)) (sums map[pattern.Quantity]Total, err error) {
	if !p.gpu {
		return (&run.Run{Rows: r, Workers: p.workers, Report: report}).Sums(ctx, f)
	}
	err = g.gpus.with(r, p.layout, false, func(on *cuda.Graph) (err error) {
		sums, err = on.Sums(ctx, f, p.room, report)
		return err
	})
	return sums, err
}

// onGPUs counts on the GPUs: cliques for engine Bits, otherwise by the loops of the job's plan.
func (g *Graph) onGPUs(ctx context.Context, r *rows.Rows, j *job, report func(float64)) (n Total, err error) {
	err = g.gpus.with(r, j.layout, false, func(on *cuda.Graph) (err error) {
		if j.engine == Bits {
			n, err = on.Cliques(ctx, j.query.pattern.Vertices(), report)
		} else {
			n, err = on.Count(ctx, j.plan, j.room, report)
		}
		return err
	})
	return n, err
}
