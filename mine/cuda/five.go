package cuda

import (
	"context"

	"sagann/device"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// fiveSums is the memory of a block's sums.
const fiveSums = int64(2 * 16 * wideBlock / 32)

// fiveNeed is the memory that fiveWalks takes: at least, and to use all multiprocessors. A block
// has a counter and a place in its list for each vertex.
func fiveNeed(r *rows.Rows, chip Chip) (least, most int64) {
	v, fixed := int64(r.V()), 8*stateWords+4*int64(device.Align)
	return fixed + 8*v + fiveSums, fixed + (8*v+fiveSums)*int64(chip.Processors)
}

// fiveWalks counts closed walks of five edges; see run.FiveWalks. With less room there are fewer
// blocks.
func (g *Graph) fiveWalks(ctx context.Context, room int64, report func(float64)) (run.Total, error) {
	v := int64(g.rows.V())
	step := uint64(len(g.cards))
	c := counting{g: g, sums: 2}
	c.prepare = func(c *card, number int, state device.Mem) (*job, error) {
		blocks := max(1, min(int64(c.chip.Processors), v, (room-4*device.Align-8*stateWords)/(8*v+fiveSums)))
		near := min((c.chip.Shared-16)/4, (v+63)/64*64)
		out, err := c.alloc(blocks * fiveSums)
		if err != nil {
			return nil, err
		}
		counters, err := c.alloc(4 * v * blocks)
		if err != nil {
			return nil, err
		}
		lists, err := c.alloc(4 * v * blocks)
		if err != nil {
			return nil, err
		}
		return &job{outs: []device.Mem{out}, calls: []call{{source: fiveWalks(), name: "saga_five_walks", grid: int(blocks), block: wideBlock,
			shared: 16 + 4*near, clear: []device.Mem{counters},
			args: []any{c.table, state, state.Slice(8, 8), uint64(number), uint64(v), step, uint64(v), uint64(near), counters, lists, out}}}}, nil
	}
	c.share = func(taken []uint64) float64 { return float64(taken[0]) * float64(step) / float64(v) }
	totals, err := c.run(ctx, report)
	if err != nil {
		return run.Total{}, err
	}
	return totals[0].Minus(totals[1].Half()), nil
}
