package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"sagann/device"
	"sagann/mine/rows"
)

// Graph is an oriented graph on a GPU: of every vertex the neighbours that come after it
// in order of degree.
type Graph struct {
	gpu   device.GPU
	queue device.Queue
	rows  *rows.Rows
	edges int64
	most  int // most neighbours above a vertex
	held  []device.Mem

	address, degree, order, from, first device.Mem
}

// Need is the bytes of device memory that Upload takes, without rounding of blocks.
func Need(r *rows.Rows) int64 { return 24*int64(r.V()) + 8*r.Edges() }

// Upload copies the graph, which is in order of degree, to the GPU.
func Upload(gpu device.GPU, r *rows.Rows) (g *Graph, err error) {
	if r.MaxAbove > widest {
		return nil, fmt.Errorf("a vertex has %d neighbours after it in order of degree; the kernels take %d", r.MaxAbove, widest)
	}
	g = &Graph{gpu: gpu, rows: r, edges: r.Edges(), most: r.MaxAbove}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Free())
		}
	}()
	if g.queue, err = gpu.NewQueue("mine"); err != nil {
		return nil, err
	}
	n := r.V()
	column, from := make([]uint32, 0, g.edges), make([]uint32, 0, g.edges)
	first, degree, order := make([]uint64, n), make([]uint32, n), make([]uint32, n)
	for v := range n {
		above := r.Above(uint32(v))
		first[v], degree[v], order[v] = uint64(len(column)), uint32(len(above)), uint32(v)
		column = append(column, above...)
		for range above {
			from = append(from, uint32(v))
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(degree[b], degree[a]) })
	columns, err := upload(g, column)
	if err != nil {
		return nil, err
	}
	base, err := gpu.Address(columns)
	if err != nil {
		return nil, err
	}
	address := make([]uint64, n)
	for v := range n {
		address[v] = base + 4*first[v]
	}
	if g.address, err = upload(g, address); err != nil {
		return nil, err
	}
	if g.first, err = upload(g, first); err != nil {
		return nil, err
	}
	for to, list := range map[*device.Mem][]uint32{&g.degree: degree, &g.order: order, &g.from: from} {
		if *to, err = upload(g, list); err != nil {
			return nil, err
		}
	}
	return g, gpu.Sync() // the host's lists end here
}

// upload copies a list to memory of its own. An empty list gets a word.
func upload[T uint32 | uint64](g *Graph, list []T) (device.Mem, error) {
	bytes := bytesOf(list)
	m, err := g.alloc(max(int64(len(bytes)), 8))
	if err == nil && len(bytes) > 0 {
		err = g.gpu.CopyH2D(g.queue, m, 0, bytes)
	}
	return m, err
}

// bytesOf is the memory of a list.
func bytesOf[T uint32 | uint64](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

func (g *Graph) alloc(bytes int64) (device.Mem, error) {
	m, err := g.gpu.Alloc(bytes)
	if err == nil {
		g.held = append(g.held, m)
	}
	return m, err
}

// Free gives the memory back.
func (g *Graph) Free() (err error) {
	for _, m := range g.held {
		err = errors.Join(err, g.gpu.Free(m))
	}
	g.held = nil
	return err
}
