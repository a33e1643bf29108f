package cuda

import (
	"errors"
	"unsafe"
)

func (e *Embedding) kernel(name string, grid, block, shared int, args ...any) call {
	return call{e.source, name, grid, block, shared, args}
}

// productBlocks is the number of thread blocks for a product of rows×cols numbers.
func productBlocks(rows, cols int) int {
	return ((rows + productSide - 1) / productSide) * ((cols + productSide - 1) / productSide)
}

// firstLayer multiplies the features of all vertices by both matrices of the first layer. Later kernels sum
// these products instead of features, so a child needs no products of its own.
func (e *Embedding) firstLayer() []call {
	g, h, row := e.g, e.h, e.h.pf()+e.h.pa()
	return []call{e.kernel("saga_product", productBlocks(g.vertices, row), 256, productShared, e.m.x, e.m.w1, e.m.first, uint64(g.vertices), uint64(h.Cols), uint64(row), uint64(row)),
		e.kernel("saga_own", g.grid(32*g.vertices), 256, 0, e.m.first, e.m.squared, e.m.counts, uint64(g.vertices))}
}

// batchOf lists the launches that embed n sources, from number lo on.
func (e *Embedding) batchOf(slot, lo, n int, key uint64) []call {
	g, h, row, draws := e.g, e.h, e.h.pf()+e.h.pa(), n*e.h.Children
	sources, vertices, blocks := e.m.sources.Slice(4*int64(lo), 4*int64(n)), uint64(g.vertices), e.blocks()
	tiles := e.m.sums.Slice(4*int64(2*blocks+1), 4)
	const warps = 4 // per block of saga_leaves
	return []call{
		e.kernel("saga_children", g.grid(n*((h.Children+3)/4)), 256, 0, g.offsets, g.far, sources, uint64(n), key, e.m.children, e.m.place, e.m.counts),
		e.kernel("saga_tile_sums", blocks, 256, 32, e.m.counts, vertices, e.m.sums),
		e.kernel("saga_tile_starts", 1, 256, 32, e.m.sums, uint64(blocks)),
		e.kernel("saga_tiles", blocks, 256, 32, e.m.counts, vertices, e.m.sums, e.m.start, e.m.tiles),
		e.kernel("saga_group_draws", g.grid(draws), 256, 0, e.m.children, uint64(draws), e.m.start, e.m.place, e.m.draws),
		e.kernel("saga_leaves", 2*g.grid(32*draws), 32*warps, 4*warps*h.dense()*h.tile(), g.offsets, g.far, e.m.first, e.m.squared, e.m.tiles, tiles, e.m.draws, sources, key, e.m.mean, e.m.norm),
		e.kernel("saga_sources", g.grid(32*n), 256, 0, e.m.first, e.m.squared, sources, uint64(n), e.m.children, e.m.place, e.m.mean, e.m.norm, e.m.own, e.m.among),
		e.kernel("saga_products", productBlocks(n, h.Wf2.Cols)+productBlocks(n, h.Wa2.Cols), 256, productShared, e.m.own, e.m.wf2, e.m.among, e.m.wa2, e.out[slot],
			uint64(n), uint64(row), uint64(h.Wf2.Cols), uint64(h.Wa2.Cols), uint64(h.out())),
		e.kernel("saga_unit", g.grid(32*n), 256, 0, e.out[slot], uint64(n)),
	}
}

// Rows returns pinned host memory for the rows of so many sources. It is valid until Free.
func (e *Embedding) Rows(sources int) ([]float32, error) {
	m, err := e.g.gpu.HostAlloc(4 * int64(sources) * int64(e.h.out()))
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
		err = errors.Join(err, e.g.gpu.HostFree(m))
	}
	e.rows = nil
	return err
}
