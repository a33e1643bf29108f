package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"sagann/device"
	"sagann/device/launch"
)

// Rename repeats the renumbering of a batch without its draws, for measuring. The caller gives the far ends
// of each hop.
type Rename struct {
	b        *Blocks
	lists    []device.Mem
	captured device.Graph
	commands []device.Command
}

// renameText is the source of the kernels that replace the draws.
//
//go:embed rename.cu
var renameText string

// NewRename prepares the renumbering of a batch with the given seeds; lists has the vertices drawn at each
// hop. It uses the memory of b, which must have room for the batch.
func (b *Blocks) NewRename(seeds []uint32, lists [][]uint32) (r *Rename, err error) {
	r = &Rename{b: b}
	g, shapes := b.g, b.shapes()
	source := strings.ReplaceAll(b.f.text(shapes)+renameText, "__launch_bounds__(THREADS)", fmt.Sprintf("__launch_bounds__(%d)", threads))
	names := []string{"saga_begin", "saga_mark", "saga_finish"}
	for hop := range lists {
		names = append(names, fmt.Sprintf("saga_place_%d", hop))
	}
	if err := g.card.Compile(source, names...); err != nil {
		return nil, err
	}
	from, err := launch.Put(g.card, seeds)
	if err != nil {
		return nil, err
	}
	r.lists = append(r.lists, from)
	calls := []launch.Call{{Source: source, Name: "saga_begin", Grid: int(tilesOf(int64(b.size), threads)), Block: threads,
		Args: launch.Args{"b": b.words, "seeds": from, "table": b.table, "vertices": b.vertices}}}
	finish := b.finish()
	most := 1
	for hop, list := range lists {
		m, err := launch.Put(g.card, list)
		if err != nil {
			return nil, errors.Join(err, r.Free())
		}
		r.lists = append(r.lists, m)
		n := uint64(len(list))
		calls = append(calls, launch.Call{Source: source, Name: "saga_mark", Grid: int(max(1, tilesOf(int64(n), threads))), Block: threads,
			Args: launch.Args{"b": b.words, "hop": uint64(hop), "list": m, "m": n, "table": b.table, "start": b.starts[hop]}}, b.place(source, hop, shapes[hop], int64(n), m))
		finish[fmt.Sprint("far", hop)], most = b.hops.far[hop], max(most, len(list))
	}
	calls = append(calls, b.finishCall(source, int64(most), finish))
	if r.commands, err = g.card.Commands(calls...); err != nil {
		return nil, errors.Join(err, r.Free())
	}
	if c, ok := g.card.GPU.(device.Capturer); ok {
		if err := g.card.GPU.Sync(); err != nil {
			return nil, errors.Join(err, r.Free())
		}
		if r.captured, err = c.Capture([]device.Queue{b.queue}, r.launch); err != nil {
			return nil, errors.Join(err, r.Free())
		}
	}
	return r, nil
}

func (r *Rename) launch() error {
	return r.b.g.card.GPU.Launch(r.b.queue, device.GPUCommands("saga_rename", r.commands))
}

// Run renumbers once. Then Counts of the blocks returns the counts of the batch.
func (r *Rename) Run() error {
	if r.captured != nil {
		return r.b.g.card.GPU.(device.Capturer).Replay(r.captured)
	}
	return r.launch()
}

// Free frees the memory of the lists.
func (r *Rename) Free() (err error) {
	for _, m := range r.lists {
		err = errors.Join(err, r.b.g.card.Drop(m))
	}
	r.lists = nil
	return err
}
