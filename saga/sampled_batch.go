package saga

import (
	"fmt"
	"strings"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/sample"
)

// batch is one of a run, ready for a step.
type batch struct {
	at     step
	weight float64 // of the items
	blocks drawn
	exec.Batch
	filled chan struct{}     // closed when it is ready
	cells  [][2]chunk.Rect   // by edge set and direction
	ids    []uint32          // memory of IDs
	rooms  map[int][]float32 // by value: memory of its rows
	err    error             // instead of all that
}

// fill draws the batch at its place and makes what low reads of it. Memory is used again.
func (p *Program) fill(b *batch, order *epochOrder) error {
	if err := p.draw(&b.blocks, order, b.at); err != nil {
		return err
	}
	b.weight = p.batchWeight(b.at.batch, b.blocks.items)
	b.Rows, b.Most = append(append(b.Rows[:0], 0), b.blocks.Counts...), p.sampled.draw.most
	p.fillCells(b)
	if len(p.train.plan.Places.Sets.Ahead.Tables) > 0 {
		b.ids = append(b.ids[:0], b.blocks.Vertices...)
		b.IDs = b.ids
	}
	if b.rooms == nil {
		b.rooms, b.Inputs = map[int][]float32{}, map[int][]byte{}
	}
	for key, id := range p.train.low.Inputs {
		v := &p.train.low.Spec.Values[id]
		if p.train.plan.Places.Sets.TableOf(id) != nil {
			continue
		}
		ld := int(v.RowBytes / 4)
		n := b.Rows[v.Set] * ld
		if cap(b.rooms[id]) < n {
			b.rooms[id] = make([]float32, n+n/8)
		}
		rows := b.rooms[id][:n]
		b.Inputs[id] = bytesOf(rows)
		if name, _, _ := strings.Cut(key, "@"); p.tabled(name) { // takeRows fills it
			continue
		}
		if err := p.fillInput(b, rows, key, v, ld); err != nil {
			return err
		}
	}
	return nil
}

// fillInput writes the rows of an input of the batch.
func (p *Program) fillInput(b *batch, rows []float32, key string, v *plan.Value, ld int) error {
	name, _, _ := strings.Cut(key, "@")
	level := int(v.Set) - 1
	vertices := b.blocks.Vertices[:b.blocks.Counts[level]]
	each := func(f func(local int) float32) error {
		for i := range vertices {
			rows[i] = f(i)
		}
		return nil
	}
	inDegree := func(i int) int64 {
		o := b.blocks.Layers[level].Offsets
		return o[i+1] - o[i]
	}
	switch name {
	case weightInput: // the mean over the seeds of the update, also of the last
		total := b.blocks.total
		return each(func(i int) float32 {
			if total == 0 {
				return 0
			}
			return float32(p.itemWeight(vertices[i]) * b.blocks.count(i) / total)
		})
	case graphOf: // by its place in the batch
		i := 0
		for n, g := range b.blocks.items {
			for range p.sampled.draw.members[g] {
				rows[i], i = float32(n), i+1
			}
		}
		return nil
	case dataflow.InDegree:
		return each(func(i int) float32 { return float32(inDegree(i)) })
	case invDegree:
		return each(func(i int) float32 { return 1 / float32(max(inDegree(i), 1)) })
	case dataflow.BlockOutDegree:
		clear(rows)
		for _, f := range b.blocks.Layers[level-1].Far {
			rows[f]++
		}
		return nil
	}
	if far := p.sampled.draw.far; far != nil && name == featuresInput {
		return far.rows(rows, vertices, ld)
	}
	row, err := p.rowOf(name)
	if err != nil {
		return err
	}
	chunk.Ranges(len(vertices), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := rows[i*ld : (i+1)*ld]
			row(int(vertices[i]), to[:v.Cols])
			clear(to[v.Cols:])
		}
	})
	return nil
}

// rowOf writes the row of a vertex of input name. What is worked out once for all vertices stays.
func (p *Program) rowOf(name string) (func(v int, to []float32), error) {
	s := p.sampled
	s.filling.mu.Lock()
	defer s.filling.mu.Unlock()
	if f := s.filling.sources[name]; f != nil {
		return f, nil
	}
	src, err := p.in.checked(name)
	if err != nil {
		return nil, err
	}
	cols := p.in.width(name)
	var f func(v int, to []float32)
	switch {
	case src.one != nil:
		f = func(v int, to []float32) { to[0] = src.one(v) }
	case src.row != nil:
		f = src.row
	case src.all != nil: // made row by row in no order: kept as a whole
		all := make([]float32, p.in.edges.V*cols)
		src.all(func(v int) []float32 { return all[v*cols : (v+1)*cols] })
		src.rows = all
		fallthrough
	default:
		f = func(v int, to []float32) { copy(to, src.rows[v*cols:(v+1)*cols]) }
	}
	s.filling.sources[name] = f
	return f, nil
}

// fillCells makes the cells that training reads of the blocks.
func (p *Program) fillCells(b *batch) {
	want, used := p.train.low.Want, walks(p.train.low)
	if b.cells == nil {
		b.cells = make([][2]chunk.Rect, len(used))
	}
	if b.Cells == nil {
		b.Cells = make([][2]exec.Cell, len(used))
	}
	for e := 1; e < len(used); e++ {
		if used[e] == [2]bool{} {
			continue
		}
		in, out := &b.cells[e][plan.CSC], &b.cells[e][plan.CSR]
		p.fillCell(in, &b.blocks, e-1, b.Rows[e], want)
		if e == 1 && p.dims.paired() {
			p.fillShares(in, b.blocks.share)
		}
		if used[e][plan.CSR] {
			out.Transpose(in, b.Rows[e+1], want)
		}
		for d, r := range []*chunk.Rect{in, out} {
			if used[e][d] {
				b.Cells[e][d] = exec.Cell{Cell: r.Cell, Mem: r.Mem}
			}
		}
	}
}

// fillCell makes the cell of block n of b, which has so many destinations.
func (p *Program) fillCell(r *chunk.Rect, b *drawn, n, rows int, want chunk.Want) {
	g, l := p.in.edges, &b.Layers[n]
	if len(b.numbers) > 0 {
		g = &b.numbers[n]
	}
	r.Resize(rows, int64(len(l.Far)), want, p.sampled.draw.dataCols)
	v := r.View()
	for i, at := range l.Offsets {
		v.Ptr[i] = uint32(at)
	}
	for i, f := range l.Far {
		v.Other[i] = uint32(f)
	}
	if want.Weight && l.Weight != nil {
		copy(v.Weight, l.Weight)
	}
	if want.Rank {
		ranks := p.sampled.edgeRanks(g)
		for i, e := range l.Edge {
			v.Rank[i] = ranks[e]
		}
	}
	for i, e := range l.Edge {
		if want.Type {
			v.Type[i] = g.Type[e]
		}
		if want.Weight && l.Weight == nil && g.Weight != nil { // pairs have a weight where no edge has
			v.Weight[i] = g.Weight[e]
		}
		if c, m := g.DataCols, r.DataCols; want.Data {
			copy(v.Data[i*m:i*m+c], g.Data[int(e)*c:])
		}
	}
	if p.sampled.Norm == NormFull && want.Data {
		p.fillScales(r, b, l)
	}
}

// fillScales writes, as the last number of each edge, how many in-edges of its end it stands for.
func (p *Program) fillScales(r *chunk.Rect, b *drawn, l *sample.Block) {
	v, n, keep := r.View(), r.DataCols, p.sampled.Sampler.KeepLoops
	for i := range len(l.Offsets) - 1 {
		lo, hi := l.Offsets[i], l.Offsets[i+1]
		loop := func(e int64) bool { return keep && int(l.Far[e]) == i }
		drawn := 0
		for e := lo; e < hi; e++ {
			if !loop(e) {
				drawn++
			}
		}
		for e := lo; e < hi; e++ {
			x := float32(1)
			if !loop(e) {
				if all := p.sampled.draw.degrees; all != nil {
					x = float32(all[b.Vertices[i]]) / float32(drawn)
				} else {
					x = float32(b.degrees[i]) / float32(drawn)
				}
			}
			v.Data[int(e+1)*n-1] = x
		}
	}
}

// fillShares writes how much each pair counts in the loss: where links have a weight and labelled edges their split.
func (p *Program) fillShares(r *chunk.Rect, share []float32) {
	v, n, at := r.View(), r.DataCols, p.in.edges.DataCols-1
	for i, x := range share {
		if p.dims.task == LinkTask {
			v.Weight[i] = x
		} else {
			v.Data[i*n+at] = x
		}
	}
}

// edgeRanks are the places of all edges in the in-lists of their ends, in stored order: what
// dropout of edges and ties of maxima go by.
func (s *sampled) edgeRanks(g *chunk.Edges) []float32 {
	s.filling.mu.Lock()
	defer s.filling.mu.Unlock()
	if s.filling.ranks == nil {
		next := make([]uint32, g.V)
		s.filling.ranks = make([]float32, g.E())
		for e, d := range g.Dst {
			s.filling.ranks[e] = float32(next[d])
			next[d]++
		}
	}
	return s.filling.ranks
}

// where names a batch, for errors.
func (at step) String() string { return fmt.Sprintf("epoch %d, batch %d", at.epoch+1, at.batch+1) }
