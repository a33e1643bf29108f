package cuda

import (
	"context"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// task is a root with its neighbours from lo up to hi, in the kernels' layout; hi 0: all neighbours.
type task struct{ root, lo, hi, _ uint32 }

// Roots are cut so that no task has more than slice neighbours. Tasks are longer if there would
// otherwise be too many of them.
const (
	slice     = 16
	mostTasks = 1 << 22
)

// nestBlocks is the number of blocks that all multiprocessors hold, at 64 registers a thread.
func (c Chip) nestBlocks() int64 { return 4 * int64(c.Processors) }

// sliceOf is the most neighbours of a task.
func sliceOf(r *rows.Rows) int {
	n := slice
	for int64(len(r.Col))/int64(n) > mostTasks {
		n *= 2
	}
	return n
}

// tasks cuts the roots from lo up to hi in ascending order.
func tasks(r *rows.Rows, p *plan.Plan, lo, hi int) []task {
	n := sliceOf(r)
	if p.Pair != plan.NoPair && p.Last() == 2 { // levels 1 and 2 are counted together: roots are not cut
		n = 1 << 31
	}
	var out []task
	for v := lo; v < hi; v++ {
		d := r.Degree(uint32(v))
		switch {
		case d == 0 || d < p.Levels[0].Degree:
		case d <= n:
			out = append(out, task{root: uint32(v)})
		default:
			for at := 0; at < d; at += n {
				out = append(out, task{root: uint32(v), lo: uint32(at), hi: uint32(min(at+n, d))})
			}
		}
	}
	return out
}

// Tasks estimates the number of tasks of loops.
func Tasks(r *rows.Rows) float64 { return float64(r.V()) + float64(len(r.Col))/float64(sliceOf(r)) }

// tasksBytes bounds the bytes of the list of tasks.
func tasksBytes(r *rows.Rows) int64 {
	return 16 * (int64(r.V()) + int64(len(r.Col))/int64(sliceOf(r)))
}

// nestBlock is the bytes that a block of a plan's kernel takes: for each warp a row for each set that
// is made, and the sums.
func nestBlock(p *plan.Plan, r *rows.Rows) int64 {
	sets := int64(0)
	for _, s := range p.Sets {
		if s.Base != plan.None {
			sets++
		}
	}
	return narrowBlock / 32 * (4*sets*int64(r.MaxDegree) + 16)
}

// NestNeed is the bytes that Count takes on each GPU in addition to the graph: the least that works, and what
// it takes to use all multiprocessors.
func NestNeed(p *plan.Plan, r *rows.Rows, chip Chip) (least, most int64) {
	fixed := tasksBytes(r) + 8*stateWords + 4*device.Align
	each := nestBlock(p, r)
	return fixed + each, fixed + chip.nestBlocks()*each
}

// nestCall is the launch of a plan's kernel with as many blocks as fit into room, without the arguments for tasks and what is written.
func (c *card) nestCall(r *rows.Rows, p *plan.Plan, source string, tasks int, room int64) (k launch.Call, err error) {
	each := nestBlock(p, r)
	blocks := max(1, min(c.chip.nestBlocks(), room/max(each, 1), (int64(tasks)+narrowBlock/32-1)/(narrowBlock/32)))
	sets := (each/(narrowBlock/32) - 16) * (narrowBlock / 32)
	scratch, err := c.Alloc(max(8, blocks*sets))
	if err != nil {
		return k, err
	}
	return launch.Call{Source: source, Name: "saga_nest", Grid: int(blocks), Block: narrowBlock,
		Args: launch.Args{"rows": c.table, "label": c.label, "id": c.id, "hub": c.hub, "step": uint64(1), "scratch": scratch, "room": uint64(r.MaxDegree)}}, nil
}

// Count runs a plan over the whole graph. room is the bytes that it may take, see NestNeed.
func (g *Graph) Count(ctx context.Context, p *plan.Plan, room int64, report func(float64)) (run.Total, error) {
	r := g.rows
	all := tasks(r, p, 0, r.V())
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 { // begin with the vertices of highest degree
		all[i], all[j] = all[j], all[i]
	}
	if len(all) == 0 {
		return run.Total{}, ctx.Err()
	}
	source := nest(p, totals)
	step := uint64(len(g.cards))
	c := counting{g: g, sums: 1}
	c.prepare = func(c *card, number int, state device.Mem) (*job, error) {
		list, err := launch.Put(c.Card, all)
		if err != nil {
			return nil, err
		}
		k, err := c.nestCall(r, p, source, len(all), room-16*int64(len(all))-8*stateWords-4*device.Align)
		if err != nil {
			return nil, err
		}
		out, err := c.Alloc(16 * int64(k.Grid) * narrowBlock / 32)
		if err != nil {
			return nil, err
		}
		k.Args = k.Args.With(launch.Args{"tasks": list, "state": state, "next": state.Slice(8, 8), "lo": uint64(number), "hi": uint64(len(all)), "step": step, "out": out})
		return &job{calls: []launch.Call{k}, outs: []device.Mem{out}}, c.GPU.Sync() // the list of tasks ends here
	}
	c.share = func(taken []uint64) float64 { return float64(taken[0]) * float64(step) / float64(len(all)) }
	totals, err := c.run(ctx, report)
	if err != nil {
		return run.Total{}, err
	}
	if p.Pair == plan.Unordered {
		return totals[0].Half(), nil
	}
	return totals[0], nil
}
