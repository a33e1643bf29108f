package cuda

import (
	"errors"

	"sagann/device"
)

// Rounds are walks without a bound, as far as they have been drawn.
type Rounds struct {
	g      *Graph
	w      *Walk
	source string
	first  uint64
	key    uint64
	keep   func(Round) error

	n, start       int // walks of the next round, and its first step
	all            int // walks of the first
	list, at, last device.Mem
	left, wrong    device.Mem
	held           []device.Mem
}

// Round is what a round drew: Steps[k*N+j] is what walk List[j] added at step Start+k; after NoVertex
// the walk has nothing more. List is nil where it is 0 and on.
type Round struct {
	N, Start int
	List     []uint32
	Steps    []uint32
}

// A round has few steps, as lanes whose walk has ended are idle until the next one, which has only walks that go on. Walks that
// are fewer than the threads of a GPU gain nothing by that: they get more steps, in twice the memory of the first round at most.
const (
	roundSteps = 64
	mostRound  = 2048
	resident   = 2048 // threads of a multiprocessor
)

// steps is how many the next round has.
func (r *Rounds) steps() int {
	if r.n > resident*max(1, r.g.gpu.Info().Processors) {
		return roundSteps
	}
	return min(max(roundSteps, 2*roundSteps*(r.all/r.n)), mostRound)
}

// DrawRounds draws walks from roots until all have ended, or one has bound steps: then goesOn is true.
// Keep, if any, gets every round.
func (g *Graph) DrawRounds(w *Walk, roots []uint32, first uint64, k0, k1 uint32, bound int, keep func(Round) error) (wrong, goesOn bool, err error) {
	r := &Rounds{g: g, w: w, source: w.text(g.wide), first: first, key: uint64(k0) | uint64(k1)<<32, keep: keep, n: len(roots), all: len(roots)}
	defer func() { err = errors.Join(err, r.drop(&r.held)) }()
	r.left, r.wrong = r.take(8, &err), r.take(8, &err)
	if r.at = r.take(4*int64(len(roots)), &err); err != nil {
		return false, false, err
	}
	if err := g.gpu.CopyH2D(g.queue, r.at, 0, bytesOf(roots)); err != nil {
		return false, false, err
	}
	if err := g.gpu.CopyH2D(g.queue, r.wrong, 0, make([]byte, 8)); err != nil {
		return false, false, err
	}
	for r.n > 0 && r.start < bound {
		if err := r.round(); err != nil {
			return false, false, errors.Join(err, g.gpu.Sync())
		}
	}
	flag := make([]uint64, 1)
	if err := g.gpu.CopyD2H(g.queue, bytesOf(flag), r.wrong, 0); err != nil {
		return false, false, err
	}
	return flag[0] != 0, r.n > 0, g.gpu.Sync()
}

// take takes memory unless there was an error.
func (r *Rounds) take(bytes int64, err *error) (m device.Mem) {
	if *err == nil {
		if m, *err = r.g.alloc(max(bytes, 8)); *err == nil {
			r.held = append(r.held, m)
		}
	}
	return m
}

func (r *Rounds) drop(list *[]device.Mem) (err error) {
	for _, m := range *list {
		err = errors.Join(err, r.g.drop(m))
	}
	*list = nil
	return err
}

// round draws one round.
func (r *Rounds) round() (err error) {
	g, n := r.g, int64(r.n)
	steps := r.steps()
	before := r.held
	r.held = nil
	defer func() { err = errors.Join(err, r.drop(&before)) }()
	for _, m := range []device.Mem{r.left, r.wrong} { // these two stay
		for i, h := range before {
			if h == m {
				before = append(before[:i:i], before[i+1:]...)
				break
			}
		}
		r.held = append(r.held, m)
	}
	out, err := g.alloc(4 * n * int64(steps))
	if err != nil {
		return err
	}
	before = append(before, out)
	list, at, last := r.take(4*n, &err), r.take(4*n, &err), r.take(4*n, &err)
	if err != nil {
		return err
	}
	if err := g.gpu.CopyH2D(g.queue, r.left, 0, make([]byte, 8)); err != nil {
		return err
	}
	rows := []any{g.offsets, g.ends, g.far, g.weight, g.most, g.table, uint64(g.vertices)}
	err = g.launch([]call{{r.source, "saga_walk", int((n + 255) / 256), 256, 0, append(rows, r.at, out, device.Mem{}, uint64(n), uint64(steps), r.first, r.key, r.wrong,
		uint64(r.start), r.list, r.last, r.left, list, at, last)}})
	if err != nil {
		return err
	}
	left := make([]uint32, 2)
	if err := g.gpu.CopyD2H(g.queue, bytesOf(left), r.left, 0); err != nil {
		return err
	}
	if err := r.copy(out, steps); err != nil {
		return err
	}
	r.n, r.start, r.list, r.at, r.last = int(left[0]), r.start+steps, list, at, last
	return nil
}

// copy gives what the round drew to the caller.
func (r *Rounds) copy(out device.Mem, steps int) error {
	g := r.g
	if r.keep == nil {
		return g.gpu.Sync()
	}
	x := Round{N: r.n, Start: r.start, Steps: make([]uint32, r.n*steps)}
	if err := g.gpu.CopyD2H(g.queue, bytesOf(x.Steps), out, 0); err != nil {
		return err
	}
	if r.start > 0 {
		x.List = make([]uint32, r.n)
		if err := g.gpu.CopyD2H(g.queue, bytesOf(x.List), r.list, 0); err != nil {
			return err
		}
	}
	if err := g.gpu.Sync(); err != nil {
		return err
	}
	return r.keep(x)
}
