package cuda

import (
	"errors"
	"unsafe"

	"sagann/device/launch"
)

func (e *Embedding) kernel(name string, grid, block, shared int, args launch.Args) launch.Call {
	return launch.Call{Source: e.source, Name: name, Grid: grid, Block: block, Shared: shared, Args: args}
}

// productBlocks is the number of thread blocks for a product of rows×cols numbers.
func productBlocks(rows, cols int) int {
	return ((rows + productSide - 1) / productSide) * ((cols + productSide - 1) / productSide)
}

// firstLayer multiplies the features of all vertices by both matrices of the first layer. Later kernels sum
// these products instead of features, so a child needs no products of its own.
func (e *Embedding) firstLayer() []launch.Call {
	g, h, row, m, vertices := e.g, e.h, e.h.pf()+e.h.pa(), &e.m, uint64(e.g.vertices)
	return []launch.Call{
		e.kernel("saga_product", productBlocks(g.vertices, row), 256, productShared,
			launch.Args{"a": m.x, "b": m.w1, "to": m.first, "rows": vertices, "inner": uint64(h.Cols), "cols": uint64(row), "ld": uint64(row)}),
		e.kernel("saga_own", g.grid(32*g.vertices), 256, 0, launch.Args{"first": m.first, "squared": m.squared, "counts": m.counts, "vertices": vertices}),
	}
}

// batchOf lists the launches that embed n sources, from number lo on.
func (e *Embedding) batchOf(slot, lo, n int, key uint64) []launch.Call {
	g, h, m, row, draws := e.g, e.h, &e.m, e.h.pf()+e.h.pa(), n*e.h.Children
	sources, vertices, blocks := m.sources.Slice(4*int64(lo), 4*int64(n)), uint64(g.vertices), e.blocks()
	tiles := m.sums.Slice(4*int64(2*blocks+1), 4)
	const warps = 4 // per block of saga_leaves
	return []launch.Call{
		e.kernel("saga_children", g.grid(n*((h.Children+3)/4)), 256, 0,
			launch.Args{"offsets": g.offsets, "far": g.far, "sources": sources, "n": uint64(n), "key": key, "children": m.children, "place": m.place, "counts": m.counts}),
		e.kernel("saga_tile_sums", blocks, 256, 32, launch.Args{"counts": m.counts, "vertices": vertices, "sums": m.sums}),
		e.kernel("saga_tile_starts", 1, 256, 32, launch.Args{"sums": m.sums, "blocks": uint64(blocks)}),
		e.kernel("saga_tiles", blocks, 256, 32, launch.Args{"counts": m.counts, "vertices": vertices, "sums": m.sums, "start": m.start, "tiles": m.tiles}),
		e.kernel("saga_group_draws", g.grid(draws), 256, 0, launch.Args{"children": m.children, "n": uint64(draws), "start": m.start, "place": m.place, "draws": m.draws}),
		e.kernel("saga_leaves", 2*g.grid(32*draws), 32*warps, 4*warps*h.dense()*h.tile(),
			launch.Args{"offsets": g.offsets, "far": g.far, "first": m.first, "squared": m.squared, "tiles": m.tiles, "tile_count": tiles, "draws": m.draws, "sources": sources,
				"key": key, "mean": m.mean, "norm": m.norm}),
		e.kernel("saga_sources", g.grid(32*n), 256, 0,
			launch.Args{"first": m.first, "squared": m.squared, "sources": sources, "n": uint64(n), "children": m.children, "place": m.place, "mean": m.mean, "norm": m.norm,
				"own": m.own, "among": m.among}),
		e.kernel("saga_products", productBlocks(n, h.Wf2.Cols)+productBlocks(n, h.Wa2.Cols), 256, productShared,
			launch.Args{"a": m.own, "b": m.wf2, "a2": m.among, "b2": m.wa2, "to": e.out[slot], "rows": uint64(n), "inner": uint64(row), "cols": uint64(h.Wf2.Cols), "cols2": uint64(h.Wa2.Cols),
				"ld": uint64(h.out())}),
		e.kernel("saga_unit", g.grid(32*n), 256, 0, launch.Args{"rows": e.out[slot], "n": uint64(n)}),
	}
}

// Rows returns pinned host memory for the rows of so many sources. It is valid until Free.
func (e *Embedding) Rows(sources int) ([]float32, error) {
	m, err := e.g.card.GPU.HostAlloc(4 * int64(sources) * int64(e.h.out()))
	if err != nil || len(m.Bytes()) == 0 {
		return nil, err
	}
	e.rows = append(e.rows, m)
	return unsafe.Slice((*float32)(unsafe.Pointer(&m.Bytes()[0])), len(m.Bytes())/4), nil
}

// Free frees all memory, also that of the graph. The GPU stays open.
func (e *Embedding) Free() error {
	err := e.g.Free()
	for _, m := range e.rows {
		err = errors.Join(err, e.g.card.GPU.HostFree(m))
	}
	e.rows = nil
	return err
}
