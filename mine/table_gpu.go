package mine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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
	if err := t.growable(true); err != nil && !t.onGPUs() {
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

// growing is the memory for making rows, and counting them by keys with counts.
func (t *Table) growing(what string, counts bool) (at place, m *cuda.Making, err error) {
	g := t.g
	filters := slices.ContainsFunc(t.filters, func(f func(Pattern) bool) bool { return f != nil })
	at, err = g.place(need{what: what, rows: g.byID, part: cuda.Whole, gpu: func(cuda.Chip) (least, most int64) { return cuda.GrowNeed(&t.spec, counts, filters) }})
	if err != nil {
		return at, nil, err
	}
	if least := cuda.LeastHost(len(g.gpus.list)); g.opt.HostMem > 0 && g.opt.HostMem < least {
		return at, nil, &BudgetError{Mem: g.opt.HostMem, Smallest: least, What: what + " in host memory"}
	}
	return at, &cuda.Making{Spec: &t.spec, Filters: t.filters, Room: at.room, Stage: cuda.StageBytes(g.opt.HostMem, len(g.gpus.list)), Workers: max(1, g.opt.Threads/len(g.gpus.list))}, nil
}

// storeOnGPUs is Store by GPUs.
func (t *Table) storeOnGPUs(ctx context.Context) (*StoredTable, error) {
	g := t.g
	at, m, err := t.growing(storing, false)
	if err != nil {
		return nil, err
	}
	h := &cuda.Homes{Host: g.opt.HostMem, Dir: g.opt.Scratch}
	s := &StoredTable{t: t}
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) (err error) {
		s.rows, err = cuda.StoreRows(ctx, on, m, h)
		return err
	})
	var small *run.RoomError
	if errors.As(err, &small) {
		err = &BudgetError{Mem: g.opt.HostMem, Smallest: small.Need, AtLeast: true, What: storing + " in host memory, without a Scratch folder,"}
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
	at, m, err := t.growing(countingKeys, true)
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
		return cuda.CountKeys(ctx, on, m, e, func(key int64, rows uint64) error { return one.AddTimes(uint64(key)^1<<63, rows) })
	})
	return failed(t.room(err))
}

// codesOnGPUs counts the rows by their canonical pattern: by quick codes on the GPUs, whose patterns the host makes.
func (t *Table) codesOnGPUs(ctx context.Context) (map[Pattern]int64, error) {
	g := t.g
	at, m, err := t.growing("counting rows by pattern", true)
	if err != nil {
		return nil, err
	}
	codes := map[int64]int64{}
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) error {
		return cuda.CountKeys(ctx, on, m, nil, func(key int64, rows uint64) error { codes[key] += int64(rows); return nil })
	})
	if err != nil {
		return nil, failed(err)
	}
	q, _ := table.QuickOf(&t.spec, t.spec.Size)
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
	all := map[Pattern]int64{}
	for _, s := range list {
		all[s.of] += s.rows
	}
	return all, nil
}
