package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/device"
)

// Rename is the renumbering of a batch alone, without its draws: it is for measuring. The lists of
// far ends of each hop are given.
type Rename struct {
	b        *Blocks
	lists    []device.Mem
	captured device.Graph
	commands []device.Command
}

// renameText is the kernels that stand in place of the draws and of saga_finish.
const renameText = `
extern "C" __global__ void __launch_bounds__(256) saga_begin(u32 *b, const u32 *seeds, u64 *table, u32 *vertices) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = seeds_of(b);
	if (i < n) {
		u32 v = seeds[b[FROM] + i];
		vertices[i] = v;
		atomicMax(table + v, marked(b[TAG], i));
	}
	if (i == 0)
		b[COUNT] = n;
}

extern "C" __global__ void __launch_bounds__(256) saga_mark(u32 *b, u64 hop, const u32 *list, u64 m, u64 *table) {
	u32 e = blockIdx.x * blockDim.x + threadIdx.x, tag = b[TAG], n = b[COUNT + hop];
	if (e < m)
		atomicMax(table + list[e], marked(tag, n + e));
	if (e == 0)
		b[EDGES + hop] = m;
}

extern "C" __global__ void __launch_bounds__(256) saga_local(u32 *b, const u64 *table, u64 hop, const u32 *list, u64 m, u32 *far, u64 last) {
	u32 at = blockIdx.x * blockDim.x + threadIdx.x;
	for (u32 e = at; e < m; e += gridDim.x * blockDim.x)
		far[e] = ~(u32)table[list[e]];
	if (last && at == 0) {
		for (u32 i = 0; i < 2 * HOPS; i++)
			b[TICKET + i] = 0;
		b[TAG]++;
	}
}
`

// NewRename prepares the renumbering of a batch: its seeds, and at each hop the vertices that were drawn. It shares
// the memory of b, which has room for it.
func (b *Blocks) NewRename(seeds []uint32, lists [][]uint32) (r *Rename, err error) {
	r = &Rename{b: b}
	g, shapes := b.g, b.shapes()
	source := strings.ReplaceAll(b.f.text(shapes)+renameText, "__launch_bounds__(THREADS)", fmt.Sprintf("__launch_bounds__(%d)", threads))
	names := []string{"saga_begin", "saga_mark", "saga_local"}
	for hop := range lists {
		names = append(names, fmt.Sprintf("saga_place_%d", hop))
	}
	if err := g.compile(source, names...); err != nil {
		return nil, err
	}
	from, err := put(g, seeds)
	if err != nil {
		return nil, err
	}
	r.lists = append(r.lists, from)
	calls := []call{{source, "saga_begin", int(tilesOf(int64(b.size), threads)), threads, 0, []any{b.words, from, b.table, b.vertices}}}
	var ends []call
	for hop, list := range lists {
		m, err := put(g, list)
		if err != nil {
			return nil, errors.Join(err, r.Free())
		}
		r.lists = append(r.lists, m)
		n := uint64(len(list))
		calls = append(calls, call{source, "saga_mark", int(max(1, tilesOf(int64(n), threads))), threads, 0, []any{b.words, uint64(hop), m, n, b.table}},
			call{source, fmt.Sprintf("saga_place_%d", hop), int(max(1, tilesOf(int64(n), threads*placeEach))), threads, 4 * (32 + threads/32*placeEach),
				[]any{b.words, b.vertices, b.table, b.placed[hop], m}})
		ends = append(ends, call{source, "saga_local", int(max(1, tilesOf(int64(n), threads))), threads, 0,
			[]any{b.words, b.table, uint64(hop), m, n, b.far[hop], uint64(map[bool]int{true: 1}[hop == len(lists)-1])}})
	}
	if r.commands, err = g.commands(slices.Concat(calls, ends)); err != nil {
		return nil, errors.Join(err, r.Free())
	}
	if c, ok := g.gpu.(device.Capturer); ok {
		if err := g.gpu.Sync(); err != nil {
			return nil, errors.Join(err, r.Free())
		}
		if r.captured, err = c.Capture([]device.Queue{b.queue}, r.launch); err != nil {
			return nil, errors.Join(err, r.Free())
		}
	}
	return r, nil
}

func (r *Rename) launch() error {
	return r.b.g.gpu.Launch(r.b.queue, device.GPUFunc("saga_rename", func(d device.GPU) (device.Batch, error) { return d.Prepare(r.commands) }))
}

// Run renumbers; Counts of the blocks then are those of the batch.
func (r *Rename) Run() error {
	if r.captured != nil {
		return r.b.g.gpu.(device.Capturer).Replay(r.captured)
	}
	return r.launch()
}

// Free gives the memory of the lists back.
func (r *Rename) Free() (err error) {
	for _, m := range r.lists {
		err = errors.Join(err, r.b.g.drop(m))
	}
	r.lists = nil
	return err
}
