package mine

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"sagann/mine/domain"
	"sagann/mine/lattice"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
	"sagann/mine/table"
)

// tables reports whether instances are counted row by row: the census has edge-induced patterns of up to three edges.
func (f *frequent) tables() bool {
	return f.Engine == Tables || f.Induced || f.Edges > domain.MostCensus || f.Edges == 0 && f.Vertices > domain.MostCensus
}

// rows is what rows are made of.
func (f *frequent) rows() *table.Graph { return &table.Graph{Rows: f.g.byID, Kinds: f.edgeKinds()} }

// place is where instances are counted. by is nil if that is done row by row.
func (f *frequent) place(ctx context.Context) (by *domain.Graph, p place, err error) {
	if f.tables() && f.g.gpus != nil {
		p, err = f.g.place(f.rowsOnGPUs())
		return nil, p, err
	}
	if f.tables() {
		t := f.rows()
		p, f.left, err = f.workers(f.g.byID.Bytes()+4*int64(len(f.edgeKinds()))+t.SharedBytes()+f.exchanged(), t.WorkerBytes())
		return nil, p, err
	}
	by, fixed, err := f.byLabels(ctx, 1)
	if err != nil {
		return nil, p, err
	}
	shared, each := by.CensusBytes()
	p, f.left, err = f.workers(fixed+f.g.rowsNeed()-f.g.byID.Bytes()+shared+f.exchanged(), each)
	return by, p, err
}

// exchanged is the memory for what ranks send each other.
func (f *frequent) exchanged() int64 {
	if f.peers == nil {
		return 0
	}
	return domain.ExchangeBytes(f.peers.Ranks())
}

// byTables counts instances by walking over all rows of one size after the other.
func (f *frequent) byTables(ctx context.Context, keep *kept, sizes [][]FrequentPattern) ([]FrequentPattern, error) {
	_, at, err := f.place(ctx)
	if err := f.agree("the memory for rows", err); err != nil {
		return nil, err
	}
	t := f.rows()
	t.Meter = run.NewMeter(f.left)
	part, size, last := lattice.HasPart, 1, f.largest()
	if f.Induced {
		part, size = lattice.HasInducedPart, 2
	}
	found := map[pattern.Pattern]bool{}
	all := slices.Concat(sizes...)
	for i := range all {
		t.Meter.Take(table.TotalBytes + holds(all[i].Pattern))
	}
	if n := len(sizes); n > 0 {
		for _, p := range sizes[n-1] {
			found[p.Pattern] = true
		}
	}
	for k := size + len(sizes); k <= last; k++ {
		if k > size && len(found) == 0 && f.By == Instances {
			break
		}
		from := len(all)
		ended := func(err error) error { return err }
		if k < last {
			ended = beforeLarger
		}
		counted, patterns, err := f.countSize(ctx, keep, at, t, k, k-size+1)
		if err != nil {
			return nil, ended(err)
		}
		next := map[pattern.Pattern]bool{}
		for p, n := range counted {
			if n.Less(f.supported()) || p.Vertices() > f.Vertices {
				continue
			}
			if f.By == InstancesAll || k == size || part(p, found) {
				asked, bytes := f.By == Instances && k < last, holds(p) // the next size asks whether it was found
				if asked {
					bytes += table.TotalBytes
				}
				if !t.Meter.Take(bytes) {
					continue // it is only counted
				}
				if asked {
					next[p] = true
				}
				all = append(all, FrequentPattern{Pattern: p, Support: n})
			}
		}
		if err := f.together("patterns", t.Meter.Err()); err != nil {
			return nil, ended(err)
		}
		t.Meter.Give(table.TotalBytes * int64(patterns+len(found)))
		if err := f.kept(keep.save(k-size+1, all[from:])); err != nil {
			return nil, err
		}
		found = next
	}
	return all, nil
}

// supported is the least support.
func (f *frequent) supported() Total { return Total{Lo: uint64(f.Support)} }

// countSize counts rows of k edges, or vertices, which are a size of the search, by pattern.
func (f *frequent) countSize(ctx context.Context, keep *kept, at place, t *table.Graph, k, size int) (counted iter.Seq2[Pattern, Total], patterns int, err error) {
	onGPUs := at.gpu && k > 1
	if onGPUs && keep == nil && f.peers == nil {
		list, _, err := f.countOnGPUs(ctx, at, t, k, table.Part{}, f.supported())
		return func(yield func(Pattern, Total) bool) {
			for _, s := range list {
				if !yield(s.Pattern, s.Rows) {
					return
				}
			}
		}, len(list), err
	}
	workers := at.workers
	if at.gpu {
		workers = f.g.opt.Threads
	}
	all, err := f.inParts(keep, size, t.Meter, func(part table.Part, counts map[Pattern]Total) (int, error) {
		if !onGPUs {
			return t.Count(ctx, k, workers, f.Induced, part, counts)
		}
		list, end, err := f.countOnGPUs(ctx, at, t, k, part, Total{}) // what is kept is added to
		for _, s := range list {
			n := counts[s.Pattern]
			n.AddTotal(s.Rows)
			counts[s.Pattern] = n
		}
		return end, err
	})
	return func(yield func(Pattern, Total) bool) {
		for p, n := range all {
			if !yield(p, n) {
				return
			}
		}
	}, len(all), err
}

// largest is the most edges of a row or, of induced patterns, vertices.
func (f *frequent) largest() int {
	switch {
	case f.Induced:
		return f.Vertices
	case f.Edges == 0:
		return f.Vertices * (f.Vertices - 1) / 2
	}
	return f.Edges
}

// keepEvery is how often what is counted of a size is kept. Tests change it.
var keepEvery = time.Minute

// inParts counts a size. With a folder it goes on from what is kept there of the size, and keeps what is counted from time to time. Ranks share it, and keep nothing of
// a size that is not finished.
func (f *frequent) inParts(keep *kept, size int, meter *run.Meter, count func(part table.Part, counts map[Pattern]Total) (end int, err error)) (map[Pattern]Total, error) {
	counts := map[Pattern]Total{}
	if f.peers != nil {
		_, err := count(table.Part{Deal: func() (from, to int, err error) { return f.peers.Deal(size, f.g.Vertices()) }}, counts)
		return counts, f.share(meter, counts, err)
	}
	if keep == nil {
		_, err := count(table.Part{}, counts)
		return counts, err
	}
	part, list, err := keep.loadPart(size)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		meter.Take(table.TotalBytes)
		counts[p.Pattern] = p.Support
	}
	for part.From < f.g.Vertices() {
		until := time.Now().Add(keepEvery)
		var asked atomic.Bool // the first who asks goes on
		part.Enough = func() bool { return asked.Swap(true) && time.Now().After(until) }
		end, err := count(part, counts)
		if err != nil {
			return nil, err
		}
		if part.From = end; end == f.g.Vertices() {
			break
		}
		if err := keep.savePart(size, end, counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// share adds the counts of the other ranks. failed is why this rank has none.
func (f *frequent) share(meter *run.Meter, counts map[Pattern]Total, failed error) error {
	copied := table.TotalBytes * int64(len(counts))
	meter.Take(copied)
	if err := f.together("rows", cmp.Or(failed, meter.Err())); err != nil {
		return err
	}
	own := make([]table.Sum, 0, len(counts))
	for p, n := range counts {
		own = append(own, table.Sum{Pattern: p, Rows: n})
	}
	err := domain.Share(f.peers, "rows", func(yield func(Pattern, Total) bool) {
		for _, x := range own {
			if !yield(x.Pattern, x.Rows) {
				return
			}
		}
	}, nil, func(p Pattern, n Total) {
		sum, ok := counts[p]
		if !ok && !meter.Take(table.TotalBytes) {
			meter.Stop()
			return
		}
		sum.AddTotal(n)
		counts[p] = sum
	})
	if err == nil {
		err = f.together("rows of all ranks", meter.Err())
	}
	meter.Give(copied)
	return err
}

// together is err, or that of another rank; memory that one lacks is lacking for all.
func (f *frequent) together(what string, err error) error {
	if f.peers == nil {
		return err
	}
	return domain.Together(f.peers, what, f.left, err)
}

// byCensus counts instances without making rows. It is done at once: what is kept is the result.
func (f *frequent) byCensus(ctx context.Context, keep *kept, sizes [][]FrequentPattern) ([]FrequentPattern, error) {
	if len(sizes) > 0 {
		return sizes[0], nil
	}
	by, at, err := f.place(ctx)
	var ordered *rows.Rows
	if err == nil {
		ordered, err = f.g.ordered()
	}
	if err := f.agree("the memory for a census", err); err != nil {
		return nil, err
	}
	edges, _ := f.censusSize()
	counted, err := by.Census(ctx, ordered, f.kinds, edges, f.Vertices, Total{Lo: uint64(f.Support)}, at.workers, run.NewMeter(f.left), f.keeps(), f.peers)
	if err != nil {
		return nil, err
	}
	if f.By == Instances {
		counted = reached(counted)
	}
	all := make([]FrequentPattern, len(counted))
	for i, c := range counted {
		all[i] = FrequentPattern{Pattern: c.Pattern, Support: c.Instances}
	}
	return all, f.kept(keep.save(1, all))
}

// keeps is the bytes that are held of a pattern of a census.
func (f *frequent) keeps() func(p Pattern) int64 {
	if f.By != Instances {
		return holds
	}
	return func(p Pattern) int64 { return table.TotalBytes + holds(p) } // in a set of those that were found
}

// censusSize is the most edges and vertices that a census counts.
func (f *frequent) censusSize() (edges, vertices int) {
	edges = f.Edges
	if edges == 0 {
		edges = f.Vertices * (f.Vertices - 1) / 2
	}
	return edges, f.Vertices
}

// reached keeps the patterns that Instances finds: of more than one edge those with a connected part of
// one edge less that was found. The patterns come by ascending number of edges.
func reached(counted []domain.Counted) []domain.Counted {
	found := map[pattern.Pattern]bool{}
	kept := counted[:0]
	for _, c := range counted {
		if c.Pattern.Edges() == 1 || lattice.HasPart(c.Pattern, found) {
			found[c.Pattern] = true
			kept = append(kept, c)
		}
	}
	return kept
}
