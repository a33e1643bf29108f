package saga

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/saga/rows"
	"sagann/sample"
)

// batch is a batch of a run, filled for a step.
type batch struct {
	at     step
	weight float64 // total weight of its items in the loss
	blocks drawn
	exec.Batch
	filled chan struct{}     // closed when it is ready
	cells  [][2]chunk.Rect   // by edge set and direction
	ids    []uint32          // memory of Batch.IDs
	rooms  map[int][]float32 // by value: memory of its rows
	err    error             // why it could not be filled
}

// fill draws the batch for its place b.at and makes the cells and input rows that training reads. It uses the memory
// of the batch that b was before.
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
	for in, id := range p.train.low.Inputs {
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
		b.Inputs[id] = device.Bytes(rows)
		if p.tabled(in.Name) { // takeRows fills it
			continue
		}
		if err := p.fillInput(b, rows, in.Name, v, ld); err != nil {
			return err
		}
	}
	return nil
}

// fillInput writes the rows of an input of the batch.
func (p *Program) fillInput(b *batch, to []float32, name string, v *plan.Value, ld int) error {
	level := int(v.Set) - 1
	vertices := b.blocks.Vertices[:b.blocks.Counts[level]]
	each := func(f func(local int) float32) error {
		for i := range vertices {
			to[i] = f(i)
		}
		return nil
	}
	inDegree := func(i int) int64 {
		o := b.blocks.Layers[level].Offsets
		return o[i+1] - o[i]
	}
	switch name {
	case rows.Weight: // the loss is the mean over the items of the whole update
		total := b.blocks.total
		return each(func(i int) float32 {
			if total == 0 {
				return 0
			}
			return float32(p.itemWeight(vertices[i]) * b.blocks.count(i) / total)
		})
	case rows.GraphOf: // graphs are numbered by their places in the batch
		i := 0
		for n, g := range b.blocks.items {
			for range p.sampled.draw.members[g] {
				to[i], i = float32(n), i+1
			}
		}
		return nil
	case dataflow.InDegree:
		return each(func(i int) float32 { return float32(inDegree(i)) })
	case rows.InvDegree:
		return each(func(i int) float32 { return 1 / float32(max(inDegree(i), 1)) })
	case dataflow.BlockOutDegree:
		clear(to)
		for _, f := range b.blocks.Layers[level-1].Far {
			to[f]++
		}
		return nil
	}
	if far := p.sampled.draw.far; far != nil && name == rows.Features {
		return far.rows(to, vertices, ld)
	}
	row, err := p.rowOf(name)
	if err != nil {
		return err
	}
	chunk.Ranges(len(vertices), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := to[i*ld : (i+1)*ld]
			row(int(vertices[i]), at[:v.Cols])
			clear(at[v.Cols:])
		}
	})
	return nil
}

// rowOf returns the function that writes the row of a vertex of input name. Inputs that are computed for all vertices at
// once are computed on the first call and kept.
func (p *Program) rowOf(name string) (func(v int, to []float32), error) {
	s := p.sampled
	s.filling.mu.Lock()
	defer s.filling.mu.Unlock()
	if f := s.filling.sources[name]; f != nil {
		return f, nil
	}
	f, err := p.in.Reader(name)
	if err != nil {
		return nil, err
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

// fillCell makes the cell of block n of b. rows is its number of destinations.
func (p *Program) fillCell(r *chunk.Rect, b *drawn, n, rows int, want chunk.Want) {
	g, l := p.in.Edges, &b.Layers[n]
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
		if want.Weight && l.Weight == nil && g.Weight != nil { // without g.Weight only pairs have weights (fillShares)
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

// fillScales writes the scale of NormFull as the last number of each edge's data: how many in-edges of its destination
// the edge stands for.
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

// fillShares writes how much each pair counts in the loss. It is the weight of a link's cell entry; for a labelled edge
// it is the last number of the edge's own data, which holds its split.
func (p *Program) fillShares(r *chunk.Rect, share []float32) {
	v, n, at := r.View(), r.DataCols, p.in.Edges.DataCols-1
	for i, x := range share {
		if p.dims.task == LinkTask {
			v.Weight[i] = x
		} else {
			v.Data[i*n+at] = x
		}
	}
}

// edgeRanks gives the place of each edge in the in-list of its destination, in stored order. Dropout of edges is keyed
// by it, and of equal maxima the lowest rank wins.
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

// String names a batch in errors. Epochs and batches count from 1.
func (at step) String() string { return fmt.Sprintf("epoch %d, batch %d", at.epoch+1, at.batch+1) }
