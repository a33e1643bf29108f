package cuda

import (
	"errors"
	"fmt"
	"strings"

	"sagann/device"
)

// Round is what a launch drew of walks without a bound, in stretches: Steps[k*Stretch+j] is what walk Owners[2k] added at step Owners[2k+1]+j, and
// after NoVertex that stretch has nothing more. Owners[2k] is none where stretch k has nothing at all.
type Round struct{ Owners, Steps []uint32 }

// Stretch is how many steps a stretch has. A walk of a hundred steps leaves an eighth of its memory empty.
const Stretch = 32

// A warp takes as many walks at a time as it has lanes, and stretches for one turn of all its lanes; a launch has four stretches for each walk,
// so that walks of about a hundred steps end in one.
const (
	walksAtATime     = 32
	stretchesAtATime = 32
	stretchesOfWalk  = 4
)

// roundsSource is the text of walks without a bound.
func (w *Walk) roundsSource(wide bool) string {
	turns := ""
	for turn := range 4 {
		words := ""
		if w.Pack > 1 && turn%w.Pack == 0 {
			words = "w = philox(f.k0, f.k1, f.of, step / PACK, 0, counter(0, 0));"
		}
		turns += fmt.Sprintf(roundTurn, turn%w.Pack, turn, words)
	}
	return w.head(wide) + fmt.Sprintf("#define STRETCH %d\n#define PART %d\n#define PARTS %d\n", Stretch, walksAtATime, stretchesAtATime) +
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

	n            int        // walks that go on
	walks        walkLists  // of these
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
	}{{&r.wrong, 8}, {&r.taken, 16}, {&r.walks[0], max(8, 4*int64(len(roots)))}} {
		if *x.to, err = g.alloc(x.bytes); err != nil {
			return false, false, err
		}
	}
	held = []device.Mem{r.wrong, r.taken}
	if err := errors.Join(g.gpu.CopyH2D(g.queue, r.walks[0], 0, bytesOf(roots)), g.gpu.CopyH2D(g.queue, r.wrong, 0, make([]byte, 8))); err != nil {
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

// blocks are those of a launch: as many as a GPU can have at work.
func (r *rounds) blocks() int {
	return min((r.n+255)/256, 8*max(1, r.g.gpu.Info().Processors))
}

// round is one launch.
func (r *rounds) round() (goesOn bool, err error) {
	g, n := r.g, int64(r.n)
	stretches := stretchesOfWalk*n + int64(8*r.blocks()*stretchesAtATime)
	c := g.gpu.Counters()
	const each = 4*Stretch + 8
	if free := g.gpu.Info().Budget - c.Used - 16*n - 8*device.Align; stretches*each > free {
		stretches = max(free/each, 1)
	}
	var next walkLists
	drop := []*device.Mem{}
	defer func() {
		for _, m := range drop {
			err = errors.Join(err, g.drop(*m))
		}
	}()
	var out, owners device.Mem
	drop = append(drop, &out, &owners)
	for _, x := range []struct {
		to    *device.Mem
		bytes int64
	}{{&out, 4 * Stretch * stretches}, {&owners, 8 * stretches}, {&next[0], 4 * n}, {&next[1], 4 * n}, {&next[2], 4 * n}, {&next[3], 4 * n}} {
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
	args := []any{g.offsets, g.ends, g.far, g.weight, g.most, g.table, uint64(g.vertices), r.walks[0], r.walks[1], r.walks[2], r.walks[3], uint64(n), out, owners, uint64(stretches), uint64(r.bound),
		r.first, r.key, r.wrong, r.taken, next[0], next[1], next[2], next[3]}
	if err := g.launch([]call{{r.source, "saga_rounds", r.blocks(), 256, 0, args}}); err != nil {
		return false, err
	}
	counts := make([]uint32, 4)
	if err := errors.Join(g.gpu.CopyD2H(g.queue, bytesOf(counts), r.taken, 0), g.gpu.Sync()); err != nil {
		return false, err
	}
	r.walks, next = next, r.walks // the old ones are dropped
	r.n = int(counts[2])
	return counts[3] != 0, r.give(out, owners, min(int64(counts[1]), stretches))
}

// give copies what was drawn to the caller.
func (r *rounds) give(out, owners device.Mem, stretches int64) error {
	if r.keep == nil {
		return nil
	}
	x := Round{make([]uint32, 2*stretches), make([]uint32, Stretch*stretches)}
	if err := errors.Join(r.g.gpu.CopyD2H(r.g.queue, bytesOf(x.Steps), out, 0), r.g.gpu.CopyD2H(r.g.queue, bytesOf(x.Owners), owners, 0), r.g.gpu.Sync()); err != nil {
		return err
	}
	return r.keep(x)
}
