package tune

import (
	"math/rand/v2"
	"slices"
)

// walk changes decisions at random, some at a time, and goes on from the best of them. Every search draws the same numbers.
type walk struct {
	s   *search
	rng *rand.Rand
	at  *Eval
}

// The walk ends when this many batches in a row gained less than a thousandth.
const (
	batch    = 16
	patience = 12
)

// hot is by how much a change may make the step longer at the beginning of a walk; the longer the walk, the less.
// Thus it leaves decisions that no single change makes better.
const hot = 0.02

// walk goes from x, by numbers drawn from seed, until the work reaches limit or nothing has helped for long.
func (s *search) walk(x *Eval, seed uint64, limit int) error {
	w := walk{s, rand.New(rand.NewPCG(1, seed)), x}
	top, begin := x, s.e.work
	var next []Decision // several of the changes that helped in the last batch at once, and new prices
	for idle := 0; idle < patience && s.e.work < limit; idle++ {
		list, names := w.batch(next)
		if len(list) == 0 {
			break
		}
		was := s.best
		evals, err := s.take(list...)
		if err != nil {
			return err
		}
		if i := slices.Index(evals, s.best); i >= 0 {
			s.log(names[i], was)
		}
		next = nil
		left := float64(limit-s.e.work) / float64(limit-begin)
		if y := fastestOf(evals); y != nil && y.score() < w.at.score()*(1+hot*max(0, left)*w.rng.Float64()) {
			next = combined(w.at, evals)
			if w.at = y; exposed(s, y) {
				next = append(next, priced(y, 0.5, 1)...)
			}
		}
		switch {
		case w.at.score() < top.score()*999/1000:
			top, idle = w.at, -1
		case w.at.score() > top.score()*(1+2*hot):
			w.at = top
		}
	}
	return nil
}

// batch draws decisions that were not tried yet, with the names of their moves, and takes next before them.
func (w *walk) batch(next []Decision) (list []Decision, names []string) {
	add := func(d Decision, name string) {
		if w.s.e.seen[d.String()] == nil && !slices.ContainsFunc(list, func(x Decision) bool { return x.String() == d.String() }) {
			list, names = append(list, d), append(names, name)
		}
	}
	for _, d := range next {
		add(d, "several")
	}
	for range 100 {
		if len(list) >= batch {
			break
		}
		x := *w.at
		name := w.draw(&x)
		for w.rng.IntN(4) == 0 {
			if more := w.draw(&x); more != name {
				name = "several"
			}
		}
		add(x.Decision, name)
	}
	return list, names
}

// draw changes e's decision by one move and returns its name. The profile stays that of e.
func (w *walk) draw(e *Eval) string {
	all := 0
	for i := range moves {
		all += moves[i].Share
	}
	for range 100 {
		n, i := w.rng.IntN(all), 0
		for ; n >= moves[i].Share; i++ {
			n -= moves[i].Share
		}
		m := &moves[i]
		if !m.When(w.s, e) {
			continue
		}
		if list := m.From(w.s, e); len(list) > 0 {
			e.Decision = list[w.rng.IntN(len(list))]
			return m.Name
		}
	}
	return ""
}
