package batches

import (
	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/sample"
)

// fillCells makes the cells that the plan reads of the blocks.
func (m *Maker) fillCells(b *Batch) {
	used := walks(m.low)
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
		_, r := m.Numbers().Block(e)
		src, dst := m.ends(e)
		want := m.low.Want.Of(r)
		in, out := &b.cells[e][plan.CSC], &b.cells[e][plan.CSR]
		m.fillCell(in, &b.blocks, e, b.Rows[dst], want)
		if m.paired() && e == m.pairs() && !m.Scores {
			m.fillShares(in, b.blocks.facts.share)
			copy(in.View().Type, b.blocks.facts.kinds)
		}
		if used[e][plan.CSR] {
			out.Transpose(in, b.Rows[src], want)
		}
		for d, r := range []*chunk.Rect{in, out} {
			if used[e][d] {
				b.Cells[e][d] = exec.Cell{Cell: r.Cell, Mem: r.Mem}
			}
		}
	}
}

// fillCell makes the cell of edge set e of b. rows is its number of destinations.
func (d *Draws) fillCell(r *chunk.Rect, b *blocks, e, rows int, want chunk.Want) {
	_, of := d.Numbers().Block(e)
	g, l := d.each[of].In.Edges, &b.Layers[e-1]
	if len(b.numbers) > 0 {
		g = &b.numbers[e-1]
	}
	r.Resize(rows, int64(len(l.Far)), want, d.dataCols(of))
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
		ranks := d.edgeRanks(g)
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
	if d.Scaled && want.Data {
		d.fillScales(r, b, l, &d.each[of])
	}
}

// fillScales writes the last number of each edge's data (Setting.Scaled): how many in-edges of its destination the edge
// stands for.
func (d *Draws) fillScales(r *chunk.Rect, b *blocks, l *sample.Block, of *edges) {
	v, n, keep, ends := r.View(), r.DataCols, of.sampler.KeepLoops, b.ofType(of.Dst)
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
				if of.degrees != nil {
					x = float32(of.degrees[ends[i]]) / float32(drawn)
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
func (d *Draws) fillShares(r *chunk.Rect, share []float32) {
	_, of := d.Numbers().Block(d.pairs())
	v, n, at := r.View(), r.DataCols, d.each[of].In.Edges.DataCols-1
	for i, x := range share {
		if d.Task == dataset.LinkLabels {
			v.Weight[i] = x
		} else {
			v.Data[i*n+at] = x
		}
	}
}
