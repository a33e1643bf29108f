package cuda

import (
	"context"
	"errors"
	"maps"
	"slices"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// wants says which kernels a formula needs.
type wants struct {
	edges, triangles, paths, cycles, cliques, five bool
}

func wanted(f pattern.Formula) (w wants) {
	for _, t := range f {
		switch t.Of {
		case pattern.EdgePairs, pattern.Tails:
			w.edges = true
		case pattern.Triangles:
			w.triangles = true
		case pattern.EdgePaths:
			w.paths = true
		case pattern.FourCycles:
			w.cycles = true
		case pattern.FourCliques:
			w.cliques = true
		case pattern.FiveWalks:
			w.five = true
		}
	}
	w.triangles = w.triangles && !w.edges // triangles at edges give all triangles, too
	return w
}

// Kernels reports whether a formula needs kernels at all. Stars do not: they are sums over vertices,
// which the host computes.
func Kernels(f pattern.Formula) bool { return wanted(f) != wants{} }

// Counted is how many kinds of kernels Sums runs. Triangles at edges need two: one that counts them,
// and one that adds up over the edges.
func Counted(f pattern.Formula) (n int) {
	w := wanted(f)
	for _, is := range []bool{w.edges, w.edges || w.paths, w.triangles, w.cycles, w.cliques, w.five} {
		if is {
			n++
		}
	}
	return n
}

// Rooted reports whether a formula needs hash tables of the neighbours above roots. Then no vertex may
// have more than Widest of them.
func Rooted(f pattern.Formula) bool {
	w := wanted(f)
	return w.edges || w.triangles || w.cliques
}

// PartOf is the part of the rows that the sums of a formula need.
func PartOf(f pattern.Formula) Part {
	if w := wanted(f); w.cycles || w.five {
		return Whole
	}
	return Above
}

// SumsNeed is the bytes that Sums takes on each of so many GPUs in addition to the graph: the least that works, and what
// it takes to use all multiprocessors.
func SumsNeed(r *rows.Rows, f pattern.Formula, chip Chip, gpus int) (least, most int64) {
	w, v := wanted(f), int64(r.V())
	if w.edges || w.paths {
		least = 4*v + 16*4*8*int64(chip.warpBlocks())
	}
	if w.edges {
		least += 8*(v+1) + 4*r.Edges()
		if gpus > 1 {
			least += 4*r.Edges() + spareBytes + 2*device.Align
		}
	}
	if w.triangles {
		least = max(least, CliquesNeed(r, 3, chip))
	}
	if w.cliques {
		least = max(least, CliquesNeed(r, 4, chip))
	}
	least += 8*stateWords + 16*device.Align
	most = least
	if w.cycles || w.five {
		l, m := walksNeed(r, chip)
		least, most = max(least, l), max(most, m)
	}
	return least, most
}

// Sums computes the quantities of a formula. Rows are in order of degree. room is the bytes that it
// may take, see SumsNeed.
func (g *Graph) Sums(ctx context.Context, f pattern.Formula, room int64, report func(float64)) (map[pattern.Quantity]run.Total, error) {
	w := wanted(f)
	out := map[pattern.Quantity]run.Total{}
	for _, t := range f {
		out[t.Of] = run.Total{}
	}
	var parts []func(report func(float64)) error
	count := func(of pattern.Quantity, how func(report func(float64)) (run.Total, error)) {
		parts = append(parts, func(report func(float64)) (err error) {
			out[of], err = how(report)
			return err
		})
	}
	if w.edges || w.paths {
		parts = append(parts, func(report func(float64)) error { return g.atEdges(ctx, w.edges, out, report) })
	}
	if w.triangles {
		count(pattern.Triangles, func(report func(float64)) (run.Total, error) { return g.Cliques(ctx, 3, report) })
	}
	if w.cycles {
		count(pattern.FourCycles, func(report func(float64)) (run.Total, error) { return g.fourCycles(ctx, room, report) })
	}
	if w.five {
		count(pattern.FiveWalks, func(report func(float64)) (run.Total, error) { return g.fiveWalks(ctx, room, report) })
	}
	if w.cliques {
		count(pattern.FourCliques, func(report func(float64)) (run.Total, error) { return g.Cliques(ctx, 4, report) })
	}
	for i, part := range parts {
		var to func(float64)
		if report != nil {
			to = func(done float64) { report((float64(i) + done) / float64(len(parts))) }
		}
		if err := part(to); err != nil {
			return nil, err
		}
	}
	for _, q := range slices.Sorted(maps.Keys(out)) {
		if q > pattern.Stars {
			var err error
			if out[q], err = run.Stars(g.rows, int(q-pattern.Stars)); err != nil {
				return nil, err
			}
		}
	}
	return out, ctx.Err()
}

// spareBytes is the memory through which the counts of another GPU come.
const spareBytes = 16 << 20

// atEdges computes the quantities in out that are sums over edges. With count it first counts the triangles
// at each edge: the roots are divided among the GPUs. As triangles at an edge come from many roots, each GPU then adds
// what the others have counted. The sums over edges are divided, too.
func (g *Graph) atEdges(ctx context.Context, count bool, out map[pattern.Quantity]run.Total, report func(float64)) (err error) {
	r := g.rows
	if err := g.wide(); count && err != nil {
		return err
	}
	degree, first := make([]uint32, r.V()), make([]uint64, r.V()+1)
	for v := range r.V() {
		degree[v] = uint32(r.Degree(uint32(v)))
		first[v+1] = first[v] + uint64(len(r.Above(uint32(v))))
	}
	held := make([]int, len(g.cards))
	for i, c := range g.cards {
		held[i] = c.Held()
	}
	defer func() {
		for i, c := range g.cards {
			err = errors.Join(err, c.Release(held[i]))
		}
	}()
	at := make([]edgeCounts, len(g.cards))
	if count {
		if at, err = g.countAtEdges(ctx, first, report); err != nil {
			return err
		}
	}
	step, halved := uint64(len(g.cards)), uint64(base(r))
	c := counting{g: g, sums: 4}
	c.prepare = func(c *card, number int, _ device.Mem) (*job, error) {
		degrees, err := launch.Put(c.Card, degree)
		if err != nil {
			return nil, err
		}
		blocks := atMost(c.chip.warpBlocks(), r.V(), narrowBlock/32)
		sums, err := c.Alloc(4 * 16 * int64(blocks) * narrowBlock / 32)
		if err != nil {
			return nil, err
		}
		j := &job{outs: []device.Mem{sums}, calls: []launch.Call{{Source: edgeSums(g.layout.Part), Name: "saga_edge_sums", Grid: blocks, Block: narrowBlock,
			Args: launch.Args{"rows": c.table, "degree": degrees, "vertices": uint64(r.V()), "start": uint64(number), "step": step, "base": halved,
				"first": at[number].first, "t": at[number].all, "out": sums}}}}
		return j, c.GPU.Sync()
	}
	sums, err := c.run(ctx, report)
	if err != nil {
		return err
	}
	for q, sum := range map[pattern.Quantity]run.Total{pattern.Triangles: sums[0].Third(), pattern.EdgePairs: sums[1],
		pattern.Tails: sums[2].Half(), pattern.EdgePaths: sums[3]} {
		if _, ok := out[q]; ok && (count || q == pattern.EdgePaths) {
			out[q] = sum
		}
	}
	return nil
}

// edgeCounts is where a GPU has the number of triangles at each edge, and where those of a vertex begin. Memory of no bytes stands for
// address 0: no triangles are counted.
type edgeCounts struct{ first, own, all device.Mem }

// countAtEdges counts the triangles at each edge. The memory is freed by the caller.
func (g *Graph) countAtEdges(ctx context.Context, first []uint64, report func(float64)) ([]edgeCounts, error) {
	r, all := g.rows, g.classes(2, small, middle)
	at := make([]edgeCounts, len(g.cards))
	step, halved := uint64(len(g.cards)), uint64(base(r))
	bytes := 4 * max(r.Edges(), 1)
	for i, c := range g.cards {
		var err error
		if at[i].first, err = launch.Put(c.Card, first); err != nil {
			return nil, err
		}
		if at[i].own, err = c.Alloc(bytes); err != nil {
			return nil, err
		}
		at[i].all = at[i].own
	}
	if len(all) == 0 {
		for i := range at {
			at[i] = edgeCounts{first: at[i].first}
		}
		return at, nil
	}
	c := counting{g: g, share: g.shares(all, len(g.cards))}
	c.prepare = func(c *card, number int, state device.Mem) (*job, error) {
		j, t := &job{}, at[number].own
		for i, x := range all {
			lo, hi := uint64(x.lo+number), uint64(x.hi)
			k := launch.Call{Source: atEdges(g.layout.Part), Name: "saga_edges_warp", Grid: atMost(c.chip.warpBlocks(), x.hi-x.lo, narrowBlock/32), Block: narrowBlock,
				Args: launch.Args{"rows": c.table, "order": c.order, "state": state, "lo": lo, "hi": hi, "step": step, "base": halved, "first": at[number].first, "t": t}}
			if x.most > small {
				k.Name, k.Grid, k.Shared = "saga_edges_block", atMost(8*c.chip.Processors, x.hi-x.lo, 1), int(tableShared(x.most)+4*int64(x.most))
				k.Args = k.Args.With(launch.Args{"next": state.Slice(8*int64(i+1), 8), "ends": uint64(0), "most": uint64(x.most), "slots": uint64(slotsOf(x.most))})
			}
			if i == 0 {
				k.Clear = []device.Mem{t}
			}
			j.calls = append(j.calls, k)
		}
		return j, c.GPU.Sync()
	}
	if _, err := c.run(ctx, report); err != nil {
		return nil, err
	}
	if len(g.cards) == 1 {
		return at, nil
	}
	for i, c := range g.cards {
		var err error
		if at[i].all, err = c.Alloc(bytes); err != nil {
			return nil, err
		}
	}
	return at, g.each(func(i int, c *card) error { return g.addCounts(at, i, c) })
}

// addCounts makes at[i].all the sum of what all GPUs have counted.
func (g *Graph) addCounts(at []edgeCounts, i int, c *card) error {
	bytes := at[i].all.Len()
	spare, err := c.Alloc(min(bytes, spareBytes))
	if err != nil {
		return err
	}
	if err := c.GPU.CopyD2D(c.Queue, at[i].all, 0, c.GPU, at[i].own, 0, bytes); err != nil {
		return err
	}
	for k, other := range g.cards {
		for off := int64(0); off < bytes && k != i; off += spare.Len() {
			n := min(spare.Len(), bytes-off)
			if err := c.GPU.CopyD2D(c.Queue, spare, 0, other.GPU, at[k].own, off, n); err != nil {
				return err
			}
			add := launch.Call{Source: edgeAdd, Name: "saga_edges_add", Grid: atMost(8*c.chip.Processors, int(n/4), narrowBlock), Block: narrowBlock,
				Args: launch.Args{"a": at[i].all.Slice(off, n), "b": spare, "n": uint64(n / 4)}}
			if err := c.Launch(add); err != nil {
				return err
			}
		}
	}
	return c.GPU.Sync()
}
