package cuda

import (
	"context"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// walkSums is the bytes of a block's sums.
const walkSums = int64(2 * 16 * wideBlock / 32)

// walksNeed is the bytes that closedWalks takes: the least that works, and what it takes to use all
// multiprocessors. A block has a counter and a list entry for each vertex.
func walksNeed(r *rows.Rows, chip Chip) (least, most int64) {
	v, fixed := int64(r.V()), 8*stateWords+4*int64(device.Align)
	return fixed + 8*v + walkSums, fixed + (8*v+walkSums)*int64(chip.Processors)
}

// fiveWalks counts closed walks of five edges; see run.FiveWalks.
func (g *Graph) fiveWalks(ctx context.Context, room int64, report func(float64)) (run.Total, error) {
	sum, twice, err := g.closedWalks(ctx, walks(5), room, report)
	return sum.Minus(twice.Half()), err
}

// fourCycles counts cycles of four vertices.
func (g *Graph) fourCycles(ctx context.Context, room int64, report func(float64)) (run.Total, error) {
	sum, _, err := g.closedWalks(ctx, walks(4), room, report)
	return sum, err
}

// closedWalks runs a kernel of walks and returns its two sums. With less room it launches fewer blocks.
func (g *Graph) closedWalks(ctx context.Context, source string, room int64, report func(float64)) (sum, twice run.Total, err error) {
	v := int64(g.rows.V())
	step := uint64(len(g.cards))
	c := counting{g: g, sums: 2}
	c.prepare = func(c *card, number int, state device.Mem) (*job, error) {
		blocks := max(1, min(int64(c.chip.Processors), v, (room-4*device.Align-8*stateWords)/(8*v+walkSums)))
		near := min((c.chip.Shared-16)/4, (v+63)/64*64)
		out, err := c.Alloc(blocks * walkSums)
		if err != nil {
			return nil, err
		}
		counters, err := c.Alloc(4 * v * blocks)
		if err != nil {
			return nil, err
		}
		lists, err := c.Alloc(4 * v * blocks)
		if err != nil {
			return nil, err
		}
		return &job{outs: []device.Mem{out}, calls: []launch.Call{{Source: source, Name: "saga_walks", Grid: int(blocks), Block: wideBlock,
			Shared: int(16 + 4*near), Clear: []device.Mem{counters},
			Args: launch.Args{"rows": c.table, "state": state, "next": state.Slice(8, 8), "lo": uint64(number), "hi": uint64(v), "step": step, "vertices": uint64(v),
				"nears": uint64(near), "counters": counters, "lists": lists, "out": out}}}}, nil
	}
	c.share = func(taken []uint64) float64 { return float64(taken[0]) * float64(step) / float64(v) }
	totals, err := c.run(ctx, report)
	if err != nil {
		return sum, twice, err
	}
	return totals[0], totals[1], nil
}
