package mine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sagann/device"
	"sagann/mine/agg"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/run"
	"sagann/mine/table"
)

// onGPUs reports whether GPUs count the rows by pattern: all rows of edges, without conditions, of a graph whose vertices all have labels, or none.
func (t *Table) onGPUs() bool {
	r := t.g.byID
	return t.g.gpus != nil && t.err == nil && !t.spec.Vertices && t.spec.Size > 1 && t.spec.From == nil && t.whole().Keep == nil &&
		!slices.ContainsFunc(t.spec.Where, func(e *pattern.Expr) bool { return e != nil }) &&
		!slices.ContainsFunc(r.Label, func(l int32) bool { return l < 0 }) && r.MaxDegree < cuda.WidestTable
}

// patternsOnGPUs counts the rows by their canonical pattern.
func (t *Table) patternsOnGPUs(ctx context.Context) (map[Pattern]int64, error) {
	f := &frequent{g: t.g, kinds: t.spec.Kinds, Frequency: Frequency{Edges: t.spec.Size}}
	at, err := t.g.place(f.rowsOnGPUs())
	if err != nil {
		return nil, err
	}
	list, _, err := f.countOnGPUs(ctx, at, f.rows(), t.spec.Size, table.Part{}, Total{})
	if err != nil {
		return nil, err
	}
	all := make(map[Pattern]int64, len(list))
	for _, s := range list {
		all[s.Pattern] = int64(s.Rows.Lo)
	}
	return all, nil
}

// OnGPUs says why the graph's GPUs do not make the rows, so that the CPU does; nil: they do. GPUs count rows by pattern whose labels, and what of them is joined, fit into 63
// bits, and filter by such patterns; by keys and conditions they take all. Of all rows of edges they count any patterns.
func (t *Table) OnGPUs() error {
	switch {
	case t.err != nil:
		return t.err
	case t.g.gpus == nil:
		return errors.New("mine: the graph was opened without GPUs")
	}
	at := t.typed()
	if at.err != nil {
		return at.err
	}
	if err := at.growable(true); err != nil && !at.onGPUs() {
		return fmt.Errorf("mine: %w: the CPU makes these rows", err)
	}
	return nil
}

// growable says why GPUs cannot make the rows one by one, in their order, or with patterns count them by pattern; nil: they can.
func (t *Table) growable(patterns bool) error {
	for size, f := range t.filters {
		if _, ok := table.QuickOf(&t.spec, size); !ok && size > 0 && (f != nil || patterns && size == t.spec.Size) {
			return cuda.ErrWide
		}
	}
	return cuda.Growable(&t.spec)
}

// growing is the memory for making rows for a use.
func (t *Table) growing(what string, use cuda.Use) (place, *cuda.Making, error) {
	return growingOn(t.g, &cuda.Making{Spec: &t.spec, Filters: t.filters}, what, use)
}

// growingOn is the memory of the GPUs of g for making rows for a use.
func growingOn(g *Graph, m *cuda.Making, what string, use cuda.Use) (place, *cuda.Making, error) {
	at, err := g.place(need{what: what, rows: g.byID, part: cuda.Whole, gpu: func(cuda.Chip) (least, most int64) { return cuda.GrowNeed(m, use) }})
	if err != nil {
		return at, nil, err
	}
	gpus := len(g.gpus.list)
	if least := cuda.LeastHost(gpus); g.opt.HostMem > 0 && g.opt.HostMem < least {
		return at, nil, &BudgetError{Mem: g.opt.HostMem, Smallest: least, What: what + " in host memory"}
	}
	m.Room, m.Stage, m.Workers = at.room, cuda.StageBytes(g.opt.HostMem, gpus), max(1, g.opt.Threads/gpus)
	return at, m, nil
}

// storeOnGPUs is Store by GPUs.
func (t *Table) storeOnGPUs(ctx context.Context) (*StoredTable, error) {
	g := t.g
	at, m, err := t.growing(storing, cuda.ForStore)
	if err != nil {
		return nil, err
	}
	h := &cuda.Homes{Host: g.opt.HostMem, Dir: g.opt.Scratch}
	if free := device.HostAvailable(); h.Host == 0 && free > 0 {
		h.Host = max(free/4*3, m.Stage*int64(len(g.gpus.list)))
	}
	s := &StoredTable{t: t}
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) (err error) {
		s.rows, err = cuda.StoreRows(ctx, on, m, h)
		return err
	})
	var small *run.RoomError
	if errors.As(err, &small) {
		err = &BudgetError{Mem: h.Host, Smallest: small.Need, AtLeast: true, What: storing + " in host memory, without a Scratch folder,"}
	}
	if err != nil {
		return nil, failed(err)
	}
	var most int64
	s.at.GPUs, most, s.at.Host = h.Bytes()
	g.gpus.keeps(most)
	s.close = func() { g.gpus.keeps(-most) }
	return s, nil
}

// countOnGPUs counts the rows of t by a key.
func (c *counting) countOnGPUs(ctx context.Context, t *Table, e *pattern.Expr) error {
	g := t.g
	at, m, err := t.growing(countingKeys, cuda.ForKeys)
	if err != nil {
		return err
	}
	if g.opt.HostMem > 0 {
		c.each = max(g.opt.HostMem-m.Stage*int64(len(g.gpus.list)), agg.MinMem)
	}
	one, err := agg.NewCounter(agg.Options{Mem: c.each, Scratch: c.scratch})
	if err != nil {
		return err
	}
	c.list = append(c.list, one)
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) error {
		_, err := cuda.CountKeys(ctx, on, m, e, func(key int64, rows uint64) error { return one.AddTimes(uint64(key)^1<<63, rows) })
		return err
	})
	return failed(t.room(err))
}

// codesOnGPUs counts the rows by their canonical pattern: by quick codes on the GPUs, whose patterns the host makes.
func (t *Table) codesOnGPUs(ctx context.Context) (map[Pattern]int64, error) {
	at, m, err := t.growing("counting rows by pattern", cuda.ForCodes)
	if err != nil {
		return nil, err
	}
	all, _, err := countCodes(ctx, t.g, at, m)
	return all, failed(err)
}

// countCodes counts rows by their canonical pattern. end is the vertex before which those that were counted begin.
func countCodes(ctx context.Context, g *Graph, at place, m *cuda.Making) (all map[Pattern]int64, end int, err error) {
	codes := map[int64]int64{}
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) error {
		end, err = cuda.CountKeys(ctx, on, m, nil, func(key int64, rows uint64) error { codes[key] += int64(rows); return nil })
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	q, _ := table.QuickOf(m.Spec, m.Spec.Size)
	type sum struct {
		code uint64
		rows int64
		of   Pattern
	}
	list := make([]sum, 0, len(codes))
	for code, n := range codes {
		list = append(list, sum{code: uint64(code), rows: n})
	}
	var wg sync.WaitGroup
	for w := range g.opt.Threads {
		wg.Go(func() {
			for i := w; i < len(list); i += g.opt.Threads {
				list[i].of = q.Pattern(list[i].code).Canonical()
			}
		})
	}
	wg.Wait()
	all = map[Pattern]int64{}
	for _, s := range list {
		all[s.of] += s.rows
	}
	return all, end, nil
}
