package mine

import (
	"context"
	"errors"
	"slices"

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

// growable says why GPUs cannot make the rows one by one, in their order; nil: they can.
func (t *Table) growable() error {
	if t.whole().Keep != nil {
		return errors.New("it is filtered")
	}
	return cuda.Growable(&t.spec)
}

// growing is the memory for making rows, and counting them by keys with counts.
func (t *Table) growing(what string, counts bool) (place, error) {
	g := t.g
	at, err := g.place(need{what: what, rows: g.byID, part: cuda.Whole, gpu: func(cuda.Chip) (least, most int64) { return cuda.GrowNeed(&t.spec, counts) }})
	if least := cuda.LeastHost(len(g.gpus.list)); err == nil && g.opt.HostMem > 0 && g.opt.HostMem < least {
		err = &BudgetError{Mem: g.opt.HostMem, Smallest: least, What: what + " in host memory"}
	}
	return at, err
}

// storeOnGPUs is Store by GPUs.
func (t *Table) storeOnGPUs(ctx context.Context) (*StoredTable, error) {
	g := t.g
	at, err := t.growing(storing, false)
	if err != nil {
		return nil, err
	}
	h := &cuda.Homes{Host: g.opt.HostMem, Dir: g.opt.Scratch}
	s := &StoredTable{t: t}
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) (err error) {
		s.rows, err = cuda.StoreRows(ctx, on, &t.spec, at.room, h)
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
	at, err := t.growing(countingKeys, true)
	if err != nil {
		return err
	}
	stage := cuda.StageBytes(g.opt.HostMem, len(g.gpus.list))
	if g.opt.HostMem > 0 {
		c.each = max(g.opt.HostMem-stage*int64(len(g.gpus.list)), agg.MinMem)
	}
	one, err := agg.NewCounter(agg.Options{Mem: c.each, Scratch: c.scratch})
	if err != nil {
		return err
	}
	c.list = append(c.list, one)
	err = g.gpus.with(g.byID, at.layout, false, func(on *cuda.Graph) error {
		return cuda.CountKeys(ctx, on, &t.spec, e, at.room, stage, func(key int64, rows uint64) error { return one.AddTimes(uint64(key)^1<<63, rows) })
	})
	return failed(t.room(err))
}
