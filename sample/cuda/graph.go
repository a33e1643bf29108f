package cuda

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"sagann/device"
)

// Rows is a graph, and tables for draws by weight, on the host. Lists that the sampler does not need are
// nil. A row has the in-edges of a vertex, as in sample.Graph.
type Rows struct {
	Offsets []int64   // V+1
	Far     []uint32  // E
	Edge    []uint32  // E: edge numbers, for blocks
	Weight  []float32 // E
	Most    []float32 // V: the largest weight of each row
	Alias   []Alias   // E: alias tables of the rows
	Inverse []uint32  // E: prefix sums of the weights of each row, in units of 2⁻³² of the row's sum

	Drawable []uint32 // V: number of edges of each row with a weight above 0, for blocks by weight
}

// Alias is an entry of an alias table: a draw keeps the entry's place if a random word is below Cut, and
// else takes the place Other.
type Alias struct{ Cut, Other uint32 }

// Graph is a graph on a GPU.
type Graph struct {
	gpu      device.GPU
	queue    device.Queue
	held     []device.Mem
	rows     Rows
	wide     bool
	vertices int
	edges    int

	offsets, far, ends, pairs, weight, most, table, drawable device.Mem
	functions                                                map[[2]string]device.Function
}

// Needs says which parts of a graph kernels read.
type Needs struct {
	Walks  bool // data for steps along edges
	Far    bool // a list of only the far ends, for searches in rows and for rows of any vertex
	Weight bool
	Pairs  bool // a list of far ends and edge numbers, in pairs, for blocks
	Wide   bool // edge entries that also hold the row of the far end: its begin and length
}

// Bytes is the GPU memory in bytes that a graph takes.
func (r *Rows) Bytes(n Needs) int64 {
	v, e := int64(len(r.Offsets)-1), int64(len(r.Far))
	sum := 4 * (v + 1)
	add := func(is bool, bytes int64) {
		if is {
			sum += bytes + device.Align
		}
	}
	far := n.Far || n.Walks && !n.Wide
	add(far, 4*e)
	add(n.Walks && n.Wide && r.Alias == nil, 16*e)
	add(n.Pairs, 8*e)
	add(n.Weight && r.Weight != nil, 4*e)
	add(r.Most != nil, 4*v)
	add(r.Alias != nil && !n.Wide, 8*e)
	add(r.Alias != nil && n.Wide, 32*e)
	add(r.Inverse != nil, 4*e)
	add(r.Drawable != nil, 4*v)
	return sum + 16*device.Align
}

// Upload copies a graph to a GPU. It does not read the lists of r after it has returned.
func Upload(gpu device.GPU, r Rows, n Needs) (*Graph, error) {
	g := &Graph{gpu: gpu, rows: r, wide: n.Wide, vertices: len(r.Offsets) - 1, edges: len(r.Far)}
	err := g.upload(n)
	if err = errors.Join(err, gpu.Sync()); err != nil {
		return nil, errors.Join(err, g.Free())
	}
	g.rows = Rows{}
	return g, nil
}

func (g *Graph) upload(n Needs) (err error) {
	r := &g.rows
	if int64(g.vertices) >= 1<<32-1 {
		return fmt.Errorf("a graph of %d vertices: the kernels take fewer than 4294967295", g.vertices)
	}
	if g.queue, err = device.NewUrgentQueue(g.gpu, "sample"); err != nil {
		return err
	}
	g.queue.SetTag(math.MinInt64) // no task of a plan
	offsets := make([]uint32, len(r.Offsets))
	for i, o := range r.Offsets {
		offsets[i] = uint32(o)
	}
	if g.offsets, err = put(g, offsets); err != nil {
		return err
	}
	alone := n.Far || n.Walks && !n.Wide
	var far device.Mem
	if alone || n.Wide && n.Walks || n.Pairs {
		if far, err = put(g, r.Far); err != nil {
			return err
		}
	}
	if alone {
		g.far, g.ends = far, far
	}
	if n.Weight && r.Weight != nil {
		if g.weight, err = put(g, r.Weight); err != nil {
			return err
		}
	}
	if r.Most != nil {
		if g.most, err = put(g, r.Most); err != nil {
			return err
		}
	}
	if r.Drawable != nil {
		if g.drawable, err = put(g, r.Drawable); err != nil {
			return err
		}
	}
	if r.Inverse != nil {
		if g.table, err = put(g, r.Inverse); err != nil {
			return err
		}
	}
	return g.entries(n, far, alone)
}

// entries makes the lists of pairs and wide entries on the GPU, from the lists of the host.
func (g *Graph) entries(n Needs, far device.Mem, alone bool) (err error) {
	r := &g.rows
	var drop []device.Mem
	if r.Alias != nil {
		table, err := put(g, r.Alias)
		if err != nil {
			return err
		}
		if g.table = table; n.Wide {
			drop = append(drop, table)
			if g.table, err = g.alloc(32 * int64(g.edges)); err != nil {
				return err
			}
			if err := g.launch([]call{{widenText, "saga_widen_table", g.grid(g.vertices), 256, 0,
				[]any{g.offsets, far, table, g.table, uint64(g.vertices)}}}); err != nil {
				return err
			}
		}
	} else if n.Wide && n.Walks {
		if g.ends, err = g.alloc(16 * int64(g.edges)); err != nil {
			return err
		}
		if err := g.launch([]call{{widenText, "saga_widen", g.grid(g.edges), 256, 0, []any{g.offsets, far, g.ends, uint64(g.edges)}}}); err != nil {
			return err
		}
	}
	if n.Pairs {
		edge, err := put(g, r.Edge)
		if err != nil {
			return err
		}
		drop = append(drop, edge)
		if g.pairs, err = g.alloc(8 * int64(g.edges)); err != nil {
			return err
		}
		if err := g.launch([]call{{widenText, "saga_pairs", g.grid(g.edges), 256, 0, []any{far, edge, g.pairs, uint64(g.edges)}}}); err != nil {
			return err
		}
	}
	if !alone && far.Len() > 0 {
		drop = append(drop, far)
	}
	if len(drop) == 0 {
		return nil
	}
	err = g.gpu.Sync()
	for _, m := range drop {
		err = errors.Join(err, g.drop(m))
	}
	return err
}

// widenText makes wide entries.
var widenText = prelude + `
// Entries of 16 bytes: far end, where its row begins, and its length.
extern "C" __global__ void __launch_bounds__(256) saga_widen(const u32 *offsets, const u32 *far, u32 *wide, u64 edges) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < edges; i += gridDim.x * (u64)blockDim.x) {
		u32 v = far[i], lo = offsets[v];
		uint4 x = {v, lo, offsets[v + 1] - lo, 0};
		((uint4 *)wide)[i] = x;
	}
}

// Entries of alias tables, of 32 bytes: below cut the edge's own end, else another place and its end.
extern "C" __global__ void __launch_bounds__(256) saga_widen_table(const u32 *offsets, const u32 *far, const u32 *table, u32 *wide, u64 vertices) {
	u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) >> 5, warps = gridDim.x * (u64)blockDim.x >> 5;
	for (u64 u = warp; u < vertices; u += warps) {
		u32 begin = offsets[u], end = offsets[u + 1];
		for (u64 i = begin + (threadIdx.x & 31); i < end; i += 32) {
			uint2 a = ((const uint2 *)table)[i];
			u32 v = far[i], lo = offsets[v];
			uint4 own = {a.x, v, lo, offsets[v + 1] - lo}, other = {a.y, NONE, 0, 0};
			if (a.y != NONE) {
				v = far[begin + a.y];
				lo = offsets[v];
				other.y = v;
				other.z = lo;
				other.w = offsets[v + 1] - lo;
			}
			((uint4 *)wide)[2 * i] = own;
			((uint4 *)wide)[2 * i + 1] = other;
		}
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_pairs(const u32 *far, const u32 *edge, u32 *pairs, u64 edges) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < edges; i += gridDim.x * (u64)blockDim.x) {
		uint2 x = {far[i], edge[i]};
		((uint2 *)pairs)[i] = x;
	}
}
`

// grid is the number of blocks of 256 threads for so many tasks, at most 16 per multiprocessor. The kernels
// loop until all tasks are done.
func (g *Graph) grid(tasks int) int {
	return max(1, min((tasks+255)/256, 16*max(g.gpu.Info().Processors, 1)))
}

// put copies a list to new GPU memory. The size is rounded up to 16 bytes, as kernels read 16 bytes at a
// time.
func put[T uint32 | float32 | Alias](g *Graph, list []T) (device.Mem, error) {
	b := bytesOf(list)
	m, err := g.alloc(max((int64(len(b))+15)&^15, 16))
	if err == nil && len(b) > 0 {
		err = g.gpu.CopyH2D(g.queue, m, 0, b)
	}
	return m, err
}

// bytesOf is a list as bytes, without a copy.
func bytesOf[T uint32 | int64 | uint64 | float32 | Alias](x []T) []byte {
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

// drop frees memory that alloc has returned.
func (g *Graph) drop(m device.Mem) error {
	for i, h := range g.held {
		if h == m {
			g.held = append(g.held[:i], g.held[i+1:]...)
			return g.gpu.Free(m)
		}
	}
	return nil
}

// Free frees all memory of the graph, and all that was taken for its samples. The GPU stays open.
func (g *Graph) Free() (err error) {
	for _, m := range g.held {
		err = errors.Join(err, g.gpu.Free(m))
	}
	g.held = nil
	return err
}

// call is a launch of a kernel. Args are uint64 and device.Mem.
type call struct {
	source, name string
	grid, block  int
	shared       int
	args         []any
}

// compile compiles the kernels of a source that are not compiled yet.
func (g *Graph) compile(source string, names ...string) error {
	if g.functions == nil {
		g.functions = map[[2]string]device.Function{}
	}
	if _, ok := g.functions[[2]string{source, names[0]}]; ok {
		return nil
	}
	list, err := g.gpu.Compile(source, names)
	if err != nil {
		return err
	}
	for i, f := range list {
		g.functions[[2]string{source, names[i]}] = f
	}
	return nil
}

// commands converts launches to commands of package device.
func (g *Graph) commands(calls []call) ([]device.Command, error) {
	var list []device.Command
	for i := range calls {
		c := &calls[i]
		if err := g.compile(c.source, c.name); err != nil {
			return nil, err
		}
		args, err := device.GPUArgs(g.gpu, c.args)
		if err != nil {
			return nil, err
		}
		list = append(list, device.Command{Call: &device.Call{Func: g.functions[[2]string{c.source, c.name}], Grid: [3]uint32{uint32(c.grid), 1, 1},
			Block: uint32(c.block), Shared: uint32(c.shared), Args: args}})
	}
	return list, nil
}

// launch submits kernels, one after the other.
func (g *Graph) launch(calls []call) error {
	list, err := g.commands(calls)
	if err != nil {
		return err
	}
	return g.gpu.Launch(g.queue, device.GPUCommands(calls[0].name, list))
}

// Sync waits until all submitted work is done.
func (g *Graph) Sync() error { return g.gpu.Sync() }
