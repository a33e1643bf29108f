package cuda

import (
	"errors"
	"fmt"
	"strings"

	"sagann/device"
)

// Round is what a launch drew of walks without a bound. Walk i of it is Name[i], and the first vertex that it adds is that of step Step[i]; Name is nil in the
// first launch, which begins all.
type Round struct {
	Place, Step, Name []uint32
	steps             []uint32
	room              int // of a warp
}

// Each calls f for what walk i adds, in order.
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

// A warp has turns for what it would take if walks had meanSteps on average, and for the longest of its last ones: those that need more go on in another launch.
const (
	turnSteps = 4
	meanSteps = 128
	lastSteps = 1536
)

// roundsSource is the text of walks without a bound.
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

// rounds are walks without a bound, as far as they have been drawn.
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

// walkLists say of walks where they are, what was before that, how many steps they have, and which they are.
type walkLists [4]device.Mem

// DrawRounds draws walks from roots until all have ended, or one has bound steps: then goesOn is true.
// Keep, if any, gets what every launch drew.
func (g *Graph) DrawRounds(w *Walk, roots []uint32, first uint64, k0, k1 uint32, bound int, keep func(Round) error) (wrong, goesOn bool, err error) {
	r := &rounds{g: g, source: w.roundsSource(g.wide), first: first, key: uint64(k0) | uint64(k1)<<32, bound: bound, keep: keep, n: len(roots)}
	var held []device.Mem
	defer func() {
		for _, m := range append(held, r.walks[:]...) {
			err = errors.Join(err, g.drop(m))
		}
	}()
	for _, x := range []struct {
		to    *device.Mem
		bytes int64
	}{{&r.wrong, 8}, {&r.taken, 16}, {&r.roots, max(8, 4*int64(len(roots)))}} {
		if *x.to, err = g.alloc(x.bytes); err != nil {
			return false, false, err
		}
		held = append(held, *x.to)
	}
	if err := errors.Join(g.gpu.CopyH2D(g.queue, r.roots, 0, bytesOf(roots)), g.gpu.CopyH2D(g.queue, r.wrong, 0, make([]byte, 8))); err != nil {
		return false, false, err
	}
	for r.n > 0 && !goesOn {
		if goesOn, err = r.round(); err != nil {
			return false, false, errors.Join(err, g.gpu.Sync())
		}
	}
	flag := make([]uint64, 1)
	if err := g.gpu.CopyD2H(g.queue, bytesOf(flag), r.wrong, 0); err != nil {
		return false, false, err
	}
	return flag[0] != 0, goesOn, g.gpu.Sync()
}

// roundBlocks is how many blocks of 256 threads a multiprocessor has at work. These are enough for its reads, and the fewer walks are on their way
// when the last one begins, the sooner all have ended.
const roundBlocks = 4

// blocks are those of a launch: as many as are at work.
func (r *rounds) blocks() int {
	return min((r.n+255)/256, roundBlocks*max(1, r.g.gpu.Info().Processors))
}

// turns are those of a warp in the memory that is free beside so many bytes.
func (r *rounds) turns(beside int64) int64 {
	lanes := int64(256 * r.blocks())
	want := (int64(r.n)*meanSteps/lanes + lastSteps) / turnSteps
	free := r.g.gpu.Info().Budget - r.g.gpu.Counters().Used - beside - 8*device.Align
	return max(1, min(want, free/(4*turnSteps*lanes), (1<<32-1)/lanes))
}

// stretch is memory for so many turns, or half as often as it takes: what is free may lie in several pieces.
func (r *rounds) stretch(turns int64) (out device.Mem, got int64, err error) {
	for ; ; turns /= 2 {
		out, err = r.g.alloc(4 * turnSteps * turns * int64(256*r.blocks()))
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
			err = errors.Join(err, g.drop(*m))
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
			*x.to, err = g.alloc(max(x.bytes, 8))
		}
	}
	for i := range next { // what is not the next list any more
		drop = append(drop, &next[i])
	}
	if err != nil {
		return false, err
	}
	if err := g.gpu.CopyH2D(g.queue, r.taken, 0, make([]byte, 16)); err != nil {
		return false, err
	}
	from := r.walks
	if from[0].Len() == 0 {
		from[0] = r.roots
	}
	args := []any{g.offsets, g.ends, g.far, g.weight, g.most, g.table, uint64(g.vertices), r.roots, from[0], from[1], from[2], from[3], uint64(n), out, place, uint64(turns), uint64(r.bound),
		r.first, r.key, r.wrong, r.taken, next[0], next[1], next[2], next[3]}
	if err := g.launch([]call{{r.source, "saga_rounds", r.blocks(), 256, 0, args}}); err != nil {
		return false, err
	}
	counts := make([]uint32, 4)
	if err := errors.Join(g.gpu.CopyD2H(g.queue, bytesOf(counts), r.taken, 0), g.gpu.Sync()); err != nil {
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
	err := errors.Join(r.g.gpu.CopyD2H(r.g.queue, bytesOf(x.Place), place, 0), r.g.gpu.CopyD2H(r.g.queue, bytesOf(x.steps), out, 0))
	if r.walks[3].Len() > 0 {
		x.Step, x.Name = make([]uint32, r.n), make([]uint32, r.n)
		err = errors.Join(err, r.g.gpu.CopyD2H(r.g.queue, bytesOf(x.Step), r.walks[2], 0), r.g.gpu.CopyD2H(r.g.queue, bytesOf(x.Name), r.walks[3], 0))
	}
	if err = errors.Join(err, r.g.gpu.Sync()); err != nil {
		return err
	}
	return r.keep(x)
}
