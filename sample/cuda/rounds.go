package cuda

import (
	"errors"
	"fmt"
	"strings"

	"sagann/device"
	"sagann/device/launch"
)

// Round is what one launch drew of walks with unbounded steps. Walk i of the launch continues sample
// Name[i], which had Step[i] steps before. Name and Step are nil in the first launch, which starts all
// samples in order.
type Round struct {
	Place, Step, Name []uint32 // Place: where the walk's vertices begin in steps, in groups of four
	steps             []uint32
	room              int // length of a warp's part of steps
}

// Each calls f for the vertices that walk i adds, in order.
func (r *Round) Each(i int, f func(v uint32)) {
	if r.Place[i] == ^uint32(0) {
		return // another launch has it
	}
	at := 4 * int(r.Place[i])
	for end := at - at%r.room + r.room; at < end; at += 4 * 32 {
		for _, v := range r.steps[at : at+4] {
			if v == ^uint32(0) {
				return
			}
			f(v)
		}
	}
}

// A warp has memory for as many turns as it needs if walks have meanSteps steps on average, and its last
// walks lastSteps more. Walks that need more go on in another launch.
const (
	turnSteps = 4
	meanSteps = 128
	lastSteps = 1536
)

// roundsSource is the kernel source for walks with unbounded steps.
func (w *Walk) roundsSource(wide bool) string {
	turns := ""
	for turn := range turnSteps {
		words := ""
		if w.Pack > 1 && turn%w.Pack == 0 {
			words = "w = philox(f.k0, f.k1, f.of, step / PACK, 0, counter(0, 0));"
		}
		turns += fmt.Sprintf(roundTurn, turn%w.Pack, turn, words)
	}
	return w.head(wide) + fmt.Sprintf("#define ROUND_BLOCKS %d\n", roundBlocks) +
		strings.ReplaceAll(roundsText, "ROUND_TURNS", turns)
}

// rounds is the state of walks with unbounded steps between launches.
type rounds struct {
	g      *Graph
	source string
	first  uint64
	key    uint64
	bound  int
	keep   func(Round) error

	n            int       // walks that go on
	walks        walkLists // of these
	roots        device.Mem
	wrong, taken device.Mem // two words, and four counts
}

// walkLists hold for each walk its vertex, the vertex before that, its number of steps, and its sample.
type walkLists [4]device.Mem

// DrawRounds draws walks from roots until all have ended, or until one has bound steps: then goesOn is
// true. It calls keep, if not nil, with the result of every launch. wrong means that a draw failed.
func (g *Graph) DrawRounds(w *Walk, roots []uint32, first uint64, k0, k1 uint32, bound int, keep func(Round) error) (wrong, goesOn bool, err error) {
	r := &rounds{g: g, source: w.roundsSource(g.wide), first: first, key: uint64(k0) | uint64(k1)<<32, bound: bound, keep: keep, n: len(roots)}
	var held []device.Mem
	defer func() {
		for _, m := range append(held, r.walks[:]...) {
			err = errors.Join(err, g.card.Drop(m))
		}
	}()
	for _, x := range []struct {
		to    *device.Mem
		bytes int64
	}{{&r.wrong, 8}, {&r.taken, 16}, {&r.roots, max(8, 4*int64(len(roots)))}} {
		if *x.to, err = g.card.Alloc(x.bytes); err != nil {
			return false, false, err
		}
		held = append(held, *x.to)
	}
	if err := errors.Join(g.card.GPU.CopyH2D(g.card.Queue, r.roots, 0, device.Bytes(roots)), g.card.GPU.CopyH2D(g.card.Queue, r.wrong, 0, make([]byte, 8))); err != nil {
		return false, false, err
	}
	for r.n > 0 && !goesOn {
		if goesOn, err = r.round(); err != nil {
			return false, false, errors.Join(err, g.card.GPU.Sync())
		}
	}
	flag := make([]uint64, 1)
	if err := g.card.GPU.CopyD2H(g.card.Queue, device.Bytes(flag), r.wrong, 0); err != nil {
		return false, false, err
	}
	return flag[0] != 0, goesOn, g.card.GPU.Sync()
}

// roundBlocks is the number of resident blocks of 256 threads per multiprocessor. So many hide the latency
// of reads. With more, more walks would be unfinished when the last one starts, and the end would come
// later.
const roundBlocks = 4

// blocks is the number of blocks of a launch, all of which are resident.
func (r *rounds) blocks() int {
	return min((r.n+255)/256, roundBlocks*r.g.card.Processors())
}

// turns is the number of turns of a warp that fit in the free memory, less the bytes beside.
func (r *rounds) turns(beside int64) int64 {
	lanes := int64(256 * r.blocks())
	want := (int64(r.n)*meanSteps/lanes + lastSteps) / turnSteps
	free := r.g.card.GPU.Info().Budget - r.g.card.GPU.Counters().Used - beside - 8*device.Align
	return max(1, min(want, free/(4*turnSteps*lanes), (1<<32-1)/lanes))
}

// stretch takes memory for so many turns. If that fails, it halves turns until it succeeds, as free memory
// can be fragmented.
func (r *rounds) stretch(turns int64) (out device.Mem, got int64, err error) {
	for ; ; turns /= 2 {
		out, err = r.g.card.Alloc(4 * turnSteps * turns * int64(256*r.blocks()))
		var full *device.BudgetError
		if turns == 1 || !errors.As(err, &full) {
			return out, turns, err
		}
	}
}

// round is one launch.
func (r *rounds) round() (goesOn bool, err error) {
	g, n := r.g, int64(r.n)
	turns := r.turns(20 * n)
	var next walkLists
	var out, place device.Mem
	drop := []*device.Mem{&out, &place}
	defer func() {
		for _, m := range drop {
			err = errors.Join(err, g.card.Drop(*m))
		}
	}()
	if out, turns, err = r.stretch(turns); err != nil {
		return false, err
	}
	for _, x := range []struct {
		to    *device.Mem
		bytes int64
	}{{&place, 4 * n}, {&next[0], 4 * n}, {&next[1], 4 * n}, {&next[2], 4 * n}, {&next[3], 4 * n}} {
		if err == nil {
			*x.to, err = g.card.Alloc(max(x.bytes, 8))
		}
	}
	for i := range next { // what is not the next list any more
		drop = append(drop, &next[i])
	}
	if err != nil {
		return false, err
	}
	if err := g.card.GPU.CopyH2D(g.card.Queue, r.taken, 0, make([]byte, 16)); err != nil {
		return false, err
	}
	from := r.walks
	if from[0].Len() == 0 {
		from[0] = r.roots
	}
	args := g.rowArgs().With(launch.Args{"roots": r.roots, "w_at": from[0], "w_before": from[1], "w_step": from[2], "w_name": from[3], "n": uint64(n), "out": out, "place": place,
		"turns": uint64(turns), "bound": uint64(r.bound), "first": r.first, "key": r.key, "wrong": r.wrong, "taken": r.taken,
		"l_at": next[0], "l_before": next[1], "l_step": next[2], "l_name": next[3]})
	if err := g.card.Launch(launch.Call{Source: r.source, Name: "saga_rounds", Grid: r.blocks(), Block: 256, Args: args}); err != nil {
		return false, err
	}
	counts := make([]uint32, 4)
	if err := errors.Join(g.card.GPU.CopyD2H(g.card.Queue, device.Bytes(counts), r.taken, 0), g.card.GPU.Sync()); err != nil {
		return false, err
	}
	if counts[2] != 0 {
		return true, nil
	}
	err = r.give(out, place, turns)
	r.walks, next = next, r.walks // the old ones are dropped
	r.n = int(counts[1])
	return false, err
}

// give copies what was drawn to the caller.
func (r *rounds) give(out, place device.Mem, turns int64) error {
	if r.keep == nil {
		return nil
	}
	x := Round{Place: make([]uint32, r.n), steps: make([]uint32, out.Len()/4), room: int(4 * 32 * turns)}
	err := errors.Join(r.g.card.GPU.CopyD2H(r.g.card.Queue, device.Bytes(x.Place), place, 0), r.g.card.GPU.CopyD2H(r.g.card.Queue, device.Bytes(x.steps), out, 0))
	if r.walks[3].Len() > 0 {
		x.Step, x.Name = make([]uint32, r.n), make([]uint32, r.n)
		err = errors.Join(err, r.g.card.GPU.CopyD2H(r.g.card.Queue, device.Bytes(x.Step), r.walks[2], 0), r.g.card.GPU.CopyD2H(r.g.card.Queue, device.Bytes(x.Name), r.walks[3], 0))
	}
	if err = errors.Join(err, r.g.card.GPU.Sync()); err != nil {
		return err
	}
	return r.keep(x)
}
