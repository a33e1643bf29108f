package sample

import (
	"fmt"
	"slices"
	"sync"

	"sagann/chunk"
)

// Samples is the result of Run: for every step the vertices that it added, row-major, one row per
// sample. Draw j of sample i gave vertex Steps[k][i*Widths[k]+j]. Steps[0] are the roots; Steps[k]
// is the result of the k-th step.
type Samples struct {
	N      int        // number of samples
	Steps  [][]uint32 // Steps[k] is N×Widths[k]; NoVertex if a draw added nothing
	Widths []int      // vertices per sample of each step, the roots first
}

// Vertices appends the vertices of sample i to list: the roots, then those of each step, without
// NoVertex.
func (s *Samples) Vertices(list []uint32, i int) []uint32 {
	for k, step := range s.Steps {
		for _, v := range step[i*s.Widths[k] : (i+1)*s.Widths[k]] {
			if v != NoVertex {
				list = append(list, v)
			}
		}
	}
	return list
}

const (
	maxSteps   = 1 << 20 // of an unbounded sampler
	maxRedraws = 255
	maxDraws   = 1 << 24 // per sample and step: the slot has 24 bits in the counter, the redraw 8
)

// mostNumbers bounds the size of Samples with unbounded steps, in vertices: 8 GiB. Without it,
// samples that do not end would use up all memory before they reach maxSteps.
var mostNumbers = int64(1) << 31

// Run draws samples into s on all processors, and reuses the memory of s. Sample i has the roots
// i·Roots to (i+1)·Roots-1 of the list and the number first+i. A sample depends on its roots, its
// number and the key, and not on the other samples of the call. Roots that are no vertices, a
// list that is no multiple of Sampler.Roots, and sample numbers of 2³² or more are errors.
func (p *Program) Run(s *Samples, roots []uint32, first uint64, key Key) error {
	n, err := p.samplesOf(roots, first)
	if err != nil {
		return err
	}
	memory := s.Steps
	if len(memory) > 0 { // roots may be part of that memory
		roots = slices.Clone(roots)
	}
	s.N, s.Steps, s.Widths = n, [][]uint32{roots}, []int{p.widths[0]}
	for k := 1; p.s.Steps != Unbounded && k < len(p.widths); k++ {
		s.step(memory, k, p.widths[k], false)
	}
	pieces := (n + p.group - 1) / p.group
	errs, last := make([]error, pieces), make([]int, pieces)
	var mu sync.Mutex
	chunk.Each(pieces, func(i int) {
		t := p.tools.take(p.g)
		defer p.tools.put(t)
		lo := i * p.group
		g := p.newGroup(s, roots, lo, min(n, lo+p.group), key)
		g.first = uint32(first) + uint32(lo)
		if p.s.Steps == Unbounded {
			g.more = func(step, width int) []uint32 {
				if int64(step)*int64(n)*int64(width) > mostNumbers {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				return s.step(memory, step, width, true)[lo*width : (lo+g.n)*width]
			}
		}
		last[i], errs[i] = g.run(t.run)
	})
	steps := 0
	for i, err := range errs {
		if err != nil {
			return err
		}
		steps = max(steps, last[i])
	}
	if p.s.Steps == Unbounded {
		s.Steps, s.Widths = s.Steps[:steps+1], s.Widths[:steps+1]
	}
	return nil
}

// step returns Steps[k]. If k is the number of steps so far, it appends the step, in memory[k] if
// that is large enough. none asks for a new step to be filled with NoVertex.
func (s *Samples) step(memory [][]uint32, k, width int, none bool) []uint32 {
	if k < len(s.Steps) {
		return s.Steps[k]
	}
	var list []uint32
	if k < len(memory) && cap(memory[k]) >= s.N*width {
		list = memory[k][:s.N*width]
	} else {
		list = make([]uint32, s.N*width)
	}
	for i := 0; none && i < len(list); i++ {
		list[i] = NoVertex
	}
	s.Steps, s.Widths = append(s.Steps, list), append(s.Widths, width)
	return list
}

// samplesOf checks roots and returns the number of samples.
func (p *Program) samplesOf(roots []uint32, first uint64) (int, error) {
	r := p.s.roots()
	switch {
	case p.code == nil || p.s.Output == Layers:
		return 0, fmt.Errorf("sampler %s draws blocks: call Blocks", p.s.Name)
	case len(roots)%r != 0:
		return 0, fmt.Errorf("sampler %s: %d roots are no multiple of %d, the roots of a sample", p.s.Name, len(roots), r)
	case first+uint64(len(roots)/r) > 1<<32:
		return 0, fmt.Errorf("sampler %s: samples up to number %d: an epoch has at most 2^32", p.s.Name, first+uint64(len(roots)/r))
	}
	for i, v := range roots {
		if int64(v) >= int64(p.g.Vertices()) {
			return 0, fmt.Errorf("root %d, at place %d, of a graph with %d vertices: roots are 0 to %d", v, i, p.g.Vertices(), p.g.Vertices()-1)
		}
	}
	return len(roots) / r, nil
}

// Roots draws the roots of n samples, each vertex with equal probability. The result has
// n·Sampler.Roots vertices. Sample i has the number first+i.
func (p *Program) Roots(n int, first uint64, key Key) []uint32 {
	s, r := key.stream(), p.s.roots()
	roots := make([]uint32, n*r)
	for i := range roots {
		w := s.words(place{of: uint32(first) + uint32(i/r), step: ^uint32(0), slot: uint32(i % r)})
		roots[i] = uint32(below(w[0], p.g.Vertices()))
	}
	return roots
}

// newGroup is the group of the samples lo to hi-1 of s.
func (p *Program) newGroup(s *Samples, roots []uint32, lo, hi int, key Key) *group {
	r := p.s.roots()
	g := &group{p: p, key: key.stream(), n: hi - lo, steps: [][]uint32{roots[lo*r : hi*r]}, widths: []int{r}}
	for k := 1; k < len(p.widths); k++ {
		w := p.widths[k]
		g.steps, g.widths = append(g.steps, s.Steps[k][lo*w:hi*w]), append(g.widths, w)
	}
	if p.tools.by == nil {
		g.plain = p.plainWalk()
	}
	g.begin()
	return g
}

// begin sets the lengths and the state of samples that have only roots.
func (g *group) begin() {
	r, all := g.widths[0], 0
	g.length = make([]int32, g.n)
	for i := range g.length {
		g.length[i] = int32(r)
	}
	for _, f := range g.p.s.State {
		all += f.Len
	}
	g.state = make([]int64, g.n*all)
	at := 0
	for _, f := range g.p.s.State {
		for i := range g.n {
			for j := 0; f.Roots && j < min(f.Len, r); j++ {
				g.state[i*all+at+j] = int64(g.steps[0][i*r+j])
			}
		}
		at += f.Len
	}
}

// run draws step by step. It returns the number of steps, with unbounded steps only those that
// added a vertex.
func (g *group) run(by run) (last int, err error) {
	unbounded := g.p.s.Steps == Unbounded
	for step := 0; ; step++ {
		if step == g.p.s.Steps {
			return step, nil
		}
		if step == maxSteps {
			return 0, fmt.Errorf("sampler %s: %d steps, and some samples go on: a sampler must end", g.p.s.Name, maxSteps)
		}
		width := g.widths[step]
		if g.p.transits != nil {
			width = max(1, g.p.s.Width)
		}
		size, err := g.p.sizeAt(step)
		if err != nil {
			return 0, err
		}
		if w := int64(width) * int64(size); w >= maxDraws {
			return 0, g.p.errorf("%d draws of a sample at step %d: at most %d", w, step+1, maxDraws-1)
		}
		f := &frame{group: g, c: g.p.code, step: step, per: width * size, size: size, transits: g.steps[step]}
		if g.p.s.Over == Collective {
			f.per = size
			g.combine(step)
		}
		if unbounded {
			more := g.more(step+1, f.per)
			if more == nil {
				return 0, g.p.errorf("%d steps, and some samples go on: a sampler must end, and its samples take at most %d numbers together; draw fewer at a time", step, mostNumbers)
			}
			g.steps, g.widths = append(g.steps, more), append(g.widths, f.per)
		}
		if g.p.transits != nil {
			f.transits = make([]uint32, g.n*width)
			t := &frame{group: g, c: g.p.transits, step: step, per: width, size: 1, transits: f.transits, early: 1}
			t.all(by, func(i int, v int64) { f.transits[i] = t.chosen(v) })
			if t.err != nil {
				return 0, t.err
			}
		}
		added := f.add(by, g.steps[step+1])
		if f.err != nil {
			return 0, f.err
		}
		if added == 0 && unbounded {
			return step, nil
		}
	}
}

// chosen is the vertex that Transits returned, or NoVertex.
func (f *frame) chosen(v int64) uint32 {
	switch n := f.p.g.Vertices(); {
	case v == -1:
		return NoVertex
	case v < 0 || v >= int64(n):
		f.fail(&f.c.list[f.c.result], "Transits gave vertex %d of a graph with %d vertices: vertices are 0 to %d, or None", v, n, n-1)
		return NoVertex
	}
	return uint32(v)
}

// all runs the function for all draws of the step, and calls got with the result of each.
func (f *frame) all(by run, got func(i int, v int64)) {
	lanes, out := &f.lanes, &f.places
	for base := 0; base < f.n*f.per && f.err == nil; base += width {
		n := min(width, f.n*f.per-base)
		for j := range n {
			lanes[j] = int32(j)
		}
		if f.early == 0 {
			f.find(base, lanes[:n])
		}
		by(f, base, lanes[:n], out[:])
		for j := range n {
			got(base+j, out[j])
		}
	}
}
