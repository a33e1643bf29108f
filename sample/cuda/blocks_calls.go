package cuda

import (
	"fmt"

	"sagann/device"
	"sagann/device/launch"
)

// prepare compiles the kernels and captures a batch.
func (b *Blocks) prepare(shapes []shape, tiles []device.Mem) (err error) {
	source, g := b.f.text(shapes), b.g
	names := []string{"saga_finish"}
	for hop := range shapes {
		names = append(names, fmt.Sprintf("saga_draw_%d", hop), fmt.Sprintf("saga_place_%d", hop))
	}
	if err := g.card.Compile(source, names...); err != nil {
		return err
	}
	var calls []launch.Call
	finish := b.finish()
	most := int64(0)
	for hop, s := range shapes {
		draws := launch.Call{Source: source, Name: fmt.Sprintf("saga_draw_%d", hop), Grid: int(tilesOf(b.rows[hop], s.rows)), Block: threads, Shared: s.shared(b.f.Loops),
			Args: launch.Args{"offsets": g.offsets, "b": b.words, "seeds": b.seeds, "vertices": b.vertices, "table": b.table, "sums": tiles[hop],
				"begin": b.hops.begin[hop], "far": b.hops.far[hop], "edge": b.hops.edge[hop], "start": b.starts[hop], "most": g.most}}
		if b.f.Visits != nil {
			draws.Shared = b.f.Visits.shared(hop, s)
			draws.Args = draws.Args.With(launch.Args{"edges": g.ends, "every": g.far, "weights": g.weight, "alias": g.table, "size": uint64(g.vertices), "weight": b.hops.weight[hop]})
		} else {
			draws.Args = draws.Args.With(launch.Args{"pairs": g.pairs, "table_of_scores": g.table, "score": g.weight, "drawable": g.drawable})
		}
		calls = append(calls, draws, b.place(source, hop, s, b.drawn[hop], b.hops.far[hop]))
		finish[fmt.Sprint("far", hop)] = b.hops.far[hop]
		most = max(most, b.drawn[hop])
	}
	calls = append(calls, b.finishCall(source, most, finish))
	if b.commands, err = g.card.Commands(calls...); err != nil {
		return err
	}
	if c, ok := g.card.GPU.(device.Capturer); ok {
		if err := g.card.GPU.Sync(); err != nil {
			return err
		}
		b.captured, err = c.Capture([]device.Queue{b.queue}, b.launch)
	}
	return err
}

// place is the launch that gives the n far ends of a hop their places among the vertices.
func (b *Blocks) place(source string, hop int, s shape, n int64, ids device.Mem) launch.Call {
	return launch.Call{Source: source, Name: fmt.Sprintf("saga_place_%d", hop), Grid: int(max(1, tilesOf(n, threads*s.each))), Block: threads, Shared: 4 * (32 + threads/32*s.each),
		Args: launch.Args{"b": b.words, "vertices": b.vertices, "table": b.table, "sums": b.placed[hop], "ids": ids, "far": b.hops.far[hop], "start": b.starts[hop]}}
}

// finish are the arguments of the last kernel but for the far ends of each hop.
func (b *Blocks) finish() launch.Args {
	return launch.Args{"b": b.words, "all": b.all, "seeds": uint64(b.size)}
}

// finishCall is the launch of the last kernel, where no hop has more than most edges.
func (b *Blocks) finishCall(source string, most int64, args launch.Args) launch.Call {
	return launch.Call{Source: source, Name: "saga_finish", Grid: int(min(tilesOf(most, threads), int64(8*b.g.card.Processors()))), Block: threads, Args: args}
}

// launch submits the kernels of a batch.
func (b *Blocks) launch() error {
	return b.g.card.GPU.Launch(b.queue, device.GPUCommands("saga_blocks", b.commands))
}
