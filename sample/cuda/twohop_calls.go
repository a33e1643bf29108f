package cuda

import (
	"errors"
	"unsafe"

	"sagann/device"
)

// step is a kernel, or a product.
type step struct {
	call    *call
	product *product
}

// product is to = a·b of rows×inner and inner×cols numbers. To has ld columns, and the product begins at column at.
type product struct {
	a, b, to          device.Mem
	rows, inner, cols int
	at, ld            int
}

func (e *Embedding) kernel(name string, grid, block, shared int, args ...any) step {
	return step{call: &call{e.source, name, grid, block, shared, args}}
}

// firstLayer makes the products of all features with both matrices of the first layer: those of leaves are then summed
// in place of features, and nothing is multiplied for a child.
func (e *Embedding) firstLayer() []step {
	g, h, row := e.g, e.h, e.h.pf()+e.h.pa()
	return []step{{product: &product{e.m.x, e.m.w1, e.m.first, g.vertices, h.Cols, row, 0, row}},
		e.kernel("saga_own", g.grid(32*g.vertices), 256, 0, e.m.first, e.m.squared, uint64(g.vertices))}
}

// batchOf embeds n sources from number lo on.
func (e *Embedding) batchOf(slot, lo, n int, key uint64) []step {
	g, h, row, draws := e.g, e.h, e.h.pf()+e.h.pa(), n*e.h.Children
	sources, vertices, blocks := e.m.sources.Slice(4*int64(lo), 4*int64(n)), uint64(g.vertices), e.blocks()
	tiles := e.m.sums.Slice(4*int64(2*blocks+1), 4)
	const warps = 4 // of a block that sums leaves
	list := []step{
		e.kernel("saga_children", g.grid(n*((h.Children+3)/4)), 256, 0, g.offsets, g.far, sources, uint64(n), key, e.m.children, e.m.place, e.m.counts),
		e.kernel("saga_tile_sums", blocks, 256, 32, e.m.counts, vertices, e.m.sums),
		e.kernel("saga_tile_starts", 1, 256, 32, e.m.sums, uint64(blocks)),
		e.kernel("saga_tiles", blocks, 256, 32, e.m.counts, vertices, e.m.sums, e.m.start, e.m.tiles),
		e.kernel("saga_group_draws", g.grid(draws), 256, 0, e.m.children, uint64(draws), e.m.start, e.m.place, e.m.draws),
		e.kernel("saga_leaves", 2*g.grid(32*draws), 32*warps, 4*warps*h.dense()*h.tile(), g.offsets, g.far, e.m.first, e.m.squared, e.m.tiles, tiles, e.m.draws, sources, key, e.m.mean, e.m.norm),
		e.kernel("saga_sources", g.grid(32*n), 256, 0, e.m.first, e.m.squared, sources, uint64(n), e.m.children, e.m.place, e.m.mean, e.m.norm, e.m.own, e.m.among),
		{product: &product{e.m.own, e.m.wf2, e.out[slot], n, row, h.Wf2.Cols, 0, h.out()}},
		{product: &product{e.m.among, e.m.wa2, e.out[slot], n, row, h.Wa2.Cols, h.Wf2.Cols, h.out()}},
		e.kernel("saga_unit", g.grid(32*n), 256, 0, e.out[slot], uint64(n)),
	}
	if lo == 0 { // later batches find counts cleared by the one before
		list = append([]step{{}}, list...)
	}
	return list
}

// launch submits steps, one after the other; an empty one clears the counts.
func (e *Embedding) launch(name string, steps []step) error {
	g := e.g
	var list []device.Command
	for _, s := range steps {
		switch {
		case s.call != nil:
			c, err := g.commands([]call{*s.call})
			if err != nil {
				return err
			}
			list = append(list, c...)
		case s.product != nil:
			c, err := e.gemm(s.product)
			if err != nil {
				return err
			}
			list = append(list, device.Command{Gemm: c})
		default:
			at, err := g.gpu.Address(e.m.counts)
			if err != nil {
				return err
			}
			list = append(list, device.Command{Clear: &device.Clear{Addr: at, Bytes: e.m.counts.Len() &^ 3}})
		}
	}
	return g.gpu.Launch(g.queue, device.GPUFunc(name, func(d device.GPU) (device.Batch, error) { return d.Prepare(list) }))
}

func (e *Embedding) gemm(p *product) (*device.Gemm, error) {
	var at [3]uint64
	for i, m := range []device.Mem{p.a, p.b, p.to} {
		var err error
		if at[i], err = e.g.gpu.Address(m); err != nil {
			return nil, err
		}
	}
	return &device.Gemm{A: at[0], B: at[1], C: at[2] + 4*uint64(p.at), M: p.rows, N: p.cols, K: p.inner, LDA: p.inner, LDB: p.cols, LDC: p.ld}, nil
}

// Rows is memory of the host for the rows of so many sources, to which copies are fast. It stays until Free.
func (e *Embedding) Rows(sources int) ([]float32, error) {
	m, err := e.g.gpu.HostAlloc(4 * int64(sources) * int64(e.h.out()))
	if err != nil || len(m.Bytes()) == 0 {
		return nil, err
	}
	e.rows = append(e.rows, m)
	return unsafe.Slice((*float32)(unsafe.Pointer(&m.Bytes()[0])), len(m.Bytes())/4), nil
}

// Free gives all memory back, that of the graph, too. The GPU stays open.
func (e *Embedding) Free() error {
	err := e.g.Free()
	for _, m := range e.rows {
		err = errors.Join(err, e.g.gpu.HostFree(m))
	}
	e.rows = nil
	return err
}
