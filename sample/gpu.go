package sample

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/device"
	"sagann/sample/cuda"
)

// GPU is a Program on a GPU. Its samples are equal to those of the Program. One goroutine at a time
// may use it.
type GPU struct {
	p    *Program
	on   *cuda.Graph
	walk *cuda.Walk // Output Steps over Individual
	grow *cuda.Grow // Output Steps over Collective

	stream *cuda.Stream // draws walk if the graph's edges stay on the host

	levels *cuda.Levels // blocks whose levels draw as a whole, and subgraphs of the seeds
	alone  *cuda.Levels // small blocks over Individual, many batches at a time
	crowd  *cuda.Crowd  // the memory for batches of levels or alone

	fanouts *cuda.Fanouts // blocks over Individual, a batch at a time
	blocks  *cuda.Blocks  // the memory for batches of fanouts:
	size    int           // with at most so many seeds,
	list    int           // of a list of at most so many
	each    int           // seeds per batch since the last call of Batches,
	all     int           // and length of its list

	oneByOne bool
	redrawn  int
}

// Redrawn is the number of batches so far that the CPU has drawn instead of the GPU: the GPU had no
// room for their edges, or the draws of a row repeated too often. The batches are the same, but take
// longer.
func (x *GPU) Redrawn() int { return x.redrawn }

// ErrNotOnGPU is the error for samplers that only a CPU can draw.
var ErrNotOnGPU = errors.New("it draws on a CPU only")

// OnGPU copies the graph and the sampler's tables to a GPU and translates the sampler's functions. The
// GPU must stay open until Close. It returns ErrNotOnGPU for samplers that GPUs do not draw. If the
// graph takes more than three quarters of the GPU's memory budget and the sampler allows it, the
// edges stay in pinned host memory and are copied piece by piece at every step: see Streams.
func (p *Program) OnGPU(d device.GPU) (*GPU, error) {
	x := &GPU{p: p}
	if p.reads(opTime, opNumber) {
		return nil, p.errorf("%w: a GPU reads no times and numbers of edges", ErrNotOnGPU)
	}
	needs, err := x.plan()
	if err != nil {
		return nil, err
	}
	rows := cuda.Rows{Offsets: p.g.Offsets, Far: p.g.Far, Edge: p.g.Edge, Weight: p.g.Weight, Most: p.tables.most, Inverse: p.tables.inverse, Alias: p.tables.alias}
	if p.scores != nil && x.levels == nil {
		rows.Weight, rows.Drawable = p.scores, p.drawable()
	}
	needs.Wide = needs.Walks && x.wide(rows, needs, d.Info().Budget)
	if rows.Bytes(needs) > d.Info().Budget/4*3 && x.streams(needs) {
		if x.stream, err = cuda.NewStream(d, x.walk, p.g.Offsets, p.g.Far); err != nil {
			return nil, p.errorf("on %v: %w", d.Info(), err)
		}
		return x, nil
	}
	if x.on, err = cuda.Upload(d, rows, needs); err != nil {
		return nil, p.errorf("on %v: %w", d.Info(), err)
	}
	return x, nil
}

// wide tells whether there is memory for wide edge entries, which also hold where the row of the far
// end begins and its length. Half of the memory must stay free for samples.
func (x *GPU) wide(rows cuda.Rows, needs cuda.Needs, budget int64) bool {
	needs.Wide = true
	return x.walk != nil && x.walk.Sizes == nil && rows.Inverse == nil && rows.Bytes(needs)+8*int64(len(rows.Far)) <= budget/2
}

// plan chooses how to draw the sampler, and returns the parts of the graph that its kernels read.
func (x *GPU) plan() (needs cuda.Needs, err error) {
	p, s := x.p, &x.p.s
	if s.Output == Layers {
		return x.planBlocks()
	}
	switch {
	case s.Output == Together && s.Steps == 0:
		return x.planAmong()
	case s.Output != Steps:
		return needs, p.errorf("%w: it gives neither steps nor blocks of drawn edges", ErrNotOnGPU)
	case s.Over == Collective:
		return x.planGrow()
	case s.Over != Individual || s.Unique == InSample || s.Most > 0:
		return needs, p.errorf("%w: a GPU draws steps over single vertices without Unique: InSample and without Most", ErrNotOnGPU)
	case s.Unique == InStep && slices.Max(p.widths) > cuda.MostHeld:
		return needs, p.errorf("%w: with Unique a GPU draws at most %d vertices of a sample at a step", ErrNotOnGPU, cuda.MostHeld)
	case s.Steps == Unbounded && (p.transits != nil || len(s.State) > 0 || s.roots() > 1 || s.size(0) > 1 || p.counts):
		return needs, p.errorf("%w: without a bound of steps a GPU draws walks from one root, without Transits, State and Len", ErrNotOnGPU)
	case s.Steps == Unbounded && p.looksBack():
		return needs, p.errorf("%w: without a bound of steps a GPU has no Prev beyond 1", ErrNotOnGPU)
	case leaks(p.code) || p.transits != nil && leaks(p.transits):
		return needs, p.errorf("%w: a value of a Reject is used outside", ErrNotOnGPU)
	}
	w := &cuda.Walk{Functions: p.render(p.code, false), Roots: s.roots(), Pack: p.code.pack, Steps: max(0, s.Steps)}
	if p.transits != nil {
		w.Functions, w.Transits = p.render(p.transits, true)+w.Functions, true
	}
	for _, f := range s.State {
		w.Fields = append(w.Fields, cuda.Field{Len: f.Len, Roots: f.Roots})
	}
	w.Narrow = p.narrowState()
	for _, n := range p.widths[1:] {
		if n != 1 {
			w.Sizes, w.Unique = p.sizes, s.Unique == InStep
		}
	}
	if w.Sizes != nil && (p.transits != nil || len(s.State) > 0 || p.reads(opPrev, opLen)) {
		return needs, p.errorf("%w: where samples draw more than once a step, a GPU has no Transits, State, Prev and Len", ErrNotOnGPU)
	}
	x.walk = w
	return cuda.Needs{Walks: true, Far: p.reads(opHas, opNeighbour), Weight: p.reads(opWeight, opBefore)}, nil
}

// reads tells whether a function has one of the operations.
func (p *Program) reads(ops ...op) bool {
	for _, c := range []*code{p.code, p.transits} {
		for i := 0; c != nil && i < len(c.list); i++ {
			for _, o := range ops {
				if c.list[i].op == o {
					return true
				}
			}
		}
	}
	return false
}

// narrowState tells whether all numbers of the state fit in 32 bits: Set stores only values that are
// narrow, and the graph has at most 2³¹-1 vertices and edges.
func (p *Program) narrowState() bool {
	if p.g.Vertices() > math.MaxInt32 || p.g.Edges() > math.MaxInt32 {
		return false
	}
	for _, c := range []*code{p.code, p.transits} {
		for i := 0; c != nil && i < len(c.list); i++ {
			if x := c.list[i]; x.op == opSet && !c.narrow(x.b) {
				return false
			}
		}
	}
	return true
}

// narrow tells whether a value certainly fits in 32 bits: a small literal, a vertex, a place in a row, a
// number of the state, or a choice of these.
func (c *code) narrow(n int32) bool {
	switch x := c.list[n]; x.op {
	case opLit:
		return x.imm == int64(int32(x.imm))
	case opPrev, opAt, opRoot, opGet, opDegree, opNeighbour, opAlias, opInverse:
		return true
	case opBelow:
		return c.narrow(x.a)
	case opIf:
		return c.narrow(x.b) && c.narrow(x.c)
	}
	return false
}

// looksBack tells whether Next reads more than the last vertex before the transit.
func (p *Program) looksBack() bool {
	for _, x := range p.code.list {
		if x.op == opPrev && x.imm > 1 {
			return true
		}
	}
	return false
}

// leaks tells whether a value of the body of a Reject is used outside of it.
func leaks(c *code) bool {
	for l := range c.list {
		if c.list[l].op != opReject {
			continue
		}
		inside := func(n int32) bool {
			return int(n) > l && int64(n) <= c.list[l].imm && c.list[n].op != opLit
		}
		for n := int(c.list[l].imm) + 1; n < len(c.list); n++ {
			for _, a := range c.list[n].args() {
				if inside(a) {
					return true
				}
			}
		}
		if inside(c.result) {
			return true
		}
	}
	return false
}

// Run is Program.Run.
func (x *GPU) Run(s *Samples, roots []uint32, first uint64, key Key) error {
	if err := x.needsSteps(); err != nil {
		return err
	}
	n, err := x.p.samplesOf(roots, first)
	if err != nil {
		return err
	}
	s.N, s.Steps, s.Widths = n, [][]uint32{roots}, x.p.widths
	for k := 1; k < len(x.p.widths); k++ {
		s.Steps = append(s.Steps, make([]uint32, n*x.p.widths[k]))
	}
	switch {
	case n == 0:
		return nil
	case x.stream != nil:
		return x.Into(roots, first, key, func(step, lo, n int) []uint32 {
			w := s.Widths[step+1]
			return s.Steps[step+1][lo*w : (lo+n)*w]
		})
	}
	if x.grow != nil {
		return x.grown(s, roots, first, key)
	}
	if x.p.s.Steps == Unbounded {
		return x.unbounded(s, roots, first, key)
	}
	d, err := x.draw(roots, first, key)
	if err != nil {
		return err
	}
	wrong, err := d.Copy(s.Steps[1:])
	if err = errors.Join(err, d.Free()); err != nil {
		return x.p.errorf("%w", err)
	}
	if wrong { // an error of the CPU names the file and line
		if err := x.p.Run(s, roots, first, key); err != nil {
			return err
		}
		return x.p.errorf("a draw failed on the GPU, and not on the CPU")
	}
	return nil
}

func (x *GPU) needsSteps() error {
	if x.walk == nil && x.grow == nil {
		return x.p.errorf("it draws blocks: call Blocks")
	}
	return nil
}

// draw draws samples and leaves them on the GPU.
func (x *GPU) draw(roots []uint32, first uint64, key Key) (*cuda.Drawn, error) {
	k := key.stream()
	d, err := x.on.Draw(x.walk, roots, first, k.k0, k.k1)
	if err != nil {
		return nil, x.p.errorf("%d samples: %w", len(roots)/x.p.s.roots(), err)
	}
	return d, nil
}

// unbounded is Run for walks with unbounded steps.
func (x *GPU) unbounded(s *Samples, roots []uint32, first uint64, key Key) error {
	s.Steps, s.Widths = s.Steps[:1], s.Widths[:1:1]
	wrong, err := x.rounds(roots, first, key, func(r cuda.Round) error {
		for k := range r.Place {
			i, step := k, 0
			if r.Name != nil {
				i, step = int(r.Name[k]), int(r.Step[k])
			}
			r.Each(k, func(v uint32) {
				if step++; step == len(s.Steps) {
					list := make([]uint32, s.N)
					for n := range list {
						list[n] = NoVertex
					}
					s.Steps, s.Widths = append(s.Steps, list), append(s.Widths, 1)
				}
				s.Steps[step][i] = v
			})
		}
		return nil
	})
	if err == nil && wrong {
		return errors.Join(x.p.Run(s, roots, first, key), x.p.errorf("a draw failed on the GPU"))
	}
	return err
}

// rounds draws walks with unbounded steps. It calls keep, if not nil, after every launch.
func (x *GPU) rounds(roots []uint32, first uint64, key Key, keep func(cuda.Round) error) (wrong bool, err error) {
	k := key.stream()
	wrong, goesOn, err := x.on.DrawRounds(x.walk, roots, first, k.k0, k.k1, maxSteps, keep)
	switch {
	case err != nil:
		return wrong, x.p.errorf("%d samples: %w", len(roots), err)
	case goesOn:
		return wrong, x.p.errorf("%d steps, and some samples go on: a sampler must end", maxSteps)
	}
	return wrong, nil
}

// Draw draws as Run does and drops the samples. It is for measuring the time of the GPU's kernels.
func (x *GPU) Draw(roots []uint32, first uint64, key Key) error {
	if _, err := x.p.samplesOf(roots, first); err != nil || x.needsSteps() != nil {
		return errors.Join(err, x.needsSteps())
	}
	if x.stream != nil {
		_, err := x.Sum(roots, first, key)
		return err
	}
	if x.grow != nil {
		_, err := x.growing(roots, first, key, false)
		return err
	}
	if x.p.s.Steps == Unbounded {
		_, err := x.rounds(roots, first, key, nil)
		return err
	}
	d, err := x.draw(roots, first, key)
	if err != nil {
		return err
	}
	_, err = d.Copy(nil)
	return errors.Join(err, d.Free())
}

// Close frees the memory. The GPU stays open.
func (x *GPU) Close() error {
	free := x.on.Free
	if x.stream != nil {
		free = x.stream.Free
	}
	if err := free(); err != nil {
		return fmt.Errorf("sampler %s: %w", x.p.s.Name, err)
	}
	return nil
}
