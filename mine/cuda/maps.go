package cuda

import (
	"context"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// mapsWords is the memory of a block, in 64-bit numbers.
func mapsWords(m *plan.Maps, r *rows.Rows) int64 {
	p := placesOf(m)
	return int64(p.halves)*int64((r.V()+1)/2) + int64(p.most)*int64(r.MaxDegree)
}

// mapsBlocks is the number of blocks that all multiprocessors hold.
func (c Chip) mapsBlocks() int64 { return 4 * int64(c.Processors) }

// MapsNeed is the bytes that Maps takes on each GPU in addition to the graph: the least that works, and what
// it takes to use all multiprocessors.
func MapsNeed(m *plan.Maps, r *rows.Rows, chip Chip) (least, most int64) {
	v := int64(r.V())
	fixed := 8*stateWords + 8*(v+1) + 8*r.Edges() + 8*v*int64(len(m.Shared)) + 8*device.Align
	each := 8*mapsWords(m, r) + 16*mapsBlock/32
	return fixed + each, fixed + chip.mapsBlocks()*each
}

// Maps counts the maps of a pattern. Rows are in order of degree. closed is the triangles at the
// edges, nil if none are needed; shared the vectors of run.SharedMaps; room the bytes that Maps may
// take, see MapsNeed.
func (g *Graph) Maps(ctx context.Context, m *plan.Maps, closed run.Closed, shared [][]uint64, room int64, report func(float64)) (run.Total, error) {
	r := g.rows
	v := int64(r.V())
	step := uint64(len(g.cards))
	c := counting{g: g, sums: 1}
	c.prepare = func(c *card, number int, state device.Mem) (*job, error) {
		before := c.Taken()
		first := make([]uint64, r.V())
		for v := range first {
			first[v] = uint64(r.Off[v])
		}
		firsts, err := launch.Put(c.Card, first)
		if err != nil {
			return nil, err
		}
		t, err := launch.Put(c.Card, []uint32(closed))
		if err != nil {
			return nil, err
		}
		vectors, err := c.Alloc(max(8, 8*v*int64(len(shared))))
		if err != nil {
			return nil, err
		}
		for i, s := range shared {
			if err := c.GPU.CopyH2D(c.Queue, vectors, 8*v*int64(i), device.Bytes(s)); err != nil {
				return nil, err
			}
		}
		words := mapsWords(m, r)
		each := 8*words + 16*mapsBlock/32
		blocks := max(1, min(c.chip.mapsBlocks(), v, (room-(c.Taken()-before)-8*stateWords-3*device.Align)/each))
		scratch, err := c.Alloc(8 * words * blocks)
		if err != nil {
			return nil, err
		}
		out, err := c.Alloc(16 * blocks * mapsBlock / 32)
		if err != nil {
			return nil, err
		}
		return &job{outs: []device.Mem{out}, calls: []launch.Call{{Source: mapsOf(m), Name: "saga_maps", Grid: int(blocks), Block: mapsBlock,
			Shared: int(mapsShared(m)), Clear: []device.Mem{scratch},
			Args: launch.Args{"rows": c.table, "state": state, "next": state.Slice(8, 8), "lo": uint64(number), "hi": uint64(v), "step": step, "vertices": uint64(v),
				"most": uint64(r.MaxDegree), "first": firsts, "closed": t, "shareds": vectors, "scratch": scratch, "words": uint64(words), "out": out}}}}, c.GPU.Sync() // the host's lists end here
	}
	c.share = func(taken []uint64) float64 { return float64(taken[0]) * float64(step) / float64(v) }
	totals, err := c.run(ctx, report)
	if err != nil {
		return run.Total{}, err
	}
	return totals[0], nil
}
