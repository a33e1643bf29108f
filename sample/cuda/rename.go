package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"sagann/device"
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
	if err := g.compile(source, names...); err != nil {
		return nil, err
	}
	from, err := put(g, seeds)
	if err != nil {
		return nil, err
	}
	r.lists = append(r.lists, from)
	calls := []call{{source, "saga_begin", int(tilesOf(int64(b.size), threads)), threads, 0, []any{b.words, from, b.table, b.vertices}}}
	finish := []any{b.words, b.all, uint64(b.size)}
	most := 1
	for hop, list := range lists {
		m, err := put(g, list)
		if err != nil {
			return nil, errors.Join(err, r.Free())
		}
		r.lists = append(r.lists, m)
		n := uint64(len(list))
		calls = append(calls, call{source, "saga_mark", int(max(1, tilesOf(int64(n), threads))), threads, 0, []any{b.words, uint64(hop), m, n, b.table, b.starts[hop]}},
			call{source, fmt.Sprintf("saga_place_%d", hop), int(max(1, tilesOf(int64(n), threads*shapes[hop].each))), threads, 4 * (32 + threads/32*shapes[hop].each),
				[]any{b.words, b.vertices, b.table, b.placed[hop], m, b.hops.far[hop], b.starts[hop]}})
		finish, most = append(finish, b.hops.far[hop]), max(most, len(list))
	}
	calls = append(calls, call{source, "saga_finish", int(min(tilesOf(int64(most), threads), int64(8*max(1, g.gpu.Info().Processors)))), threads, 0, finish})
	if r.commands, err = g.commands(calls); err != nil {
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
	return r.b.g.gpu.Launch(r.b.queue, device.GPUCommands("saga_rename", r.commands))
}

// Run renumbers once. Then Counts of the blocks returns the counts of the batch.
func (r *Rename) Run() error {
	if r.captured != nil {
		return r.b.g.gpu.(device.Capturer).Replay(r.captured)
	}
	return r.launch()
}

// Free frees the memory of the lists.
func (r *Rename) Free() (err error) {
	for _, m := range r.lists {
		err = errors.Join(err, r.b.g.drop(m))
	}
	r.lists = nil
	return err
}
