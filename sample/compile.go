package sample

import (
	"errors"
	"fmt"
)

// Program is a sampler compiled for a graph. Any number of goroutines may use it.
type Program struct {
	g        *Graph
	s        Sampler
	sizes    []int // Size at each step; with unbounded steps only at step 0
	widths   []int // vertices per sample of each step, roots first; with unbounded steps only the roots
	group    int   // samples that Run draws together
	code     *code // Next, or the default of the output Steps; nil: edges are drawn without a function
	transits *code
	score    *code
	edge     *code // EdgeWeight
	counts   bool  // a function reads the number of vertices of a sample (opLen)
	tables   tables
	scores   []float32 // Score of each edge
	unit     float64   // converts a score to fixed point: see fixed
	everyone []uint64  // Everywhere: prefix sums over vertices of the scores of their out-edges
	rowSums  []uint64  // Collective: sum of the scores of each row
	tools    tools
}

// Compile checks a sampler, traces its functions and builds the tables that its draws read. Errors
// in a function name its file and line.
func Compile(g *Graph, s Sampler) (*Program, error) {
	p := &Program{g: g, s: s}
	if s.Name == "" {
		p.s.Name = "without a name"
	}
	for _, check := range []func() error{g.check, p.checkSteps, p.checkFields, p.checkRead, p.trace, p.checkUse, p.prepare} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// errorf returns an error that names the sampler.
func (p *Program) errorf(format string, args ...any) error {
	return fmt.Errorf("sampler %s: %w", p.s.Name, fmt.Errorf(format, args...))
}

// checkSteps checks the numbers of steps and draws, and computes sizes, widths and group.
func (p *Program) checkSteps() error {
	s := &p.s
	switch {
	case s.Roots < 0 || s.Width < 0 || s.Most < 0 || s.Top < 0 || s.Length < 0:
		return p.errorf("Roots %d, Width %d, Most %d, Top %d, Length %d: none may be negative", s.Roots, s.Width, s.Most, s.Top, s.Length)
	case s.Steps < Unbounded || s.Steps == 0 && s.Output != Together:
		return p.errorf("%d steps: a sampler makes 1 step or more, or Unbounded ones", s.Steps)
	case s.Steps == Unbounded && s.Output == Layers:
		return p.errorf("unbounded steps do not give blocks, which have a level a step")
	}
	p.widths = []int{s.roots()}
	if s.Steps > maxSteps {
		return p.errorf("%d steps: at most %d", s.Steps, maxSteps)
	}
	for step := range max(s.Steps, 1) {
		n, err := p.sizeAt(step)
		if err != nil {
			return err
		}
		p.sizes = append(p.sizes, n)
		// A row without replacement has at most its edges. All else makes as many draws as it is told to.
		if draws := int64(n) * int64(max(1, s.Length)); (s.Over != Individual || s.Next != nil || s.Replace) && (draws >= maxDraws || n >= maxDraws) {
			return p.errorf("%d draws at step %d: at most %d", draws, step+1, maxDraws-1)
		}
		if s.Output == Layers || s.Next == nil && s.Output != Steps {
			continue
		}
		w := p.widths[step]
		if s.Transits != nil {
			w = max(1, s.Width)
		}
		if s.Over == Collective {
			w = 1
		}
		if int64(w)*int64(n) >= maxDraws {
			return p.errorf("%d draws of a sample at step %d: at most %d", int64(w)*int64(n), step+1, maxDraws-1)
		}
		p.widths = append(p.widths, w*n)
	}
	if s.Steps == Unbounded {
		p.widths = p.widths[:1]
	}
	total := 0
	for _, w := range p.widths {
		total = max(total, w)
	}
	p.group = max(1, min(width, 1<<16/total))
	return nil
}

// sizeAt is Size at a step. Compile has stored the sizes of a sampler with bounded steps. A Size
// below 1, or one that panics, is an error.
func (p *Program) sizeAt(step int) (n int, err error) {
	if step < len(p.sizes) {
		return p.sizes[step], nil
	}
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, p.errorf("%s: Size(%d) panicked: %v", funcAt(p.s.Size), step, r)
		}
	}()
	if n = p.s.size(step); n < 1 {
		return 0, p.errorf("%d draws at step %d: a fan-out is 1 or more", n, step+1)
	}
	return n, nil
}

// checkFields checks which fields may be set together.
func (p *Program) checkFields() error {
	s := &p.s
	for _, f := range s.State {
		if f.Len < 1 || f.Len > 1<<20 {
			return p.errorf("state %q has %d numbers: 1 to %d are possible", f.Name, f.Len, 1<<20)
		}
	}
	switch {
	case s.Over == Everywhere && s.Score == nil:
		return p.errorf("draws from everywhere need a Score")
	case s.Score != nil && s.Next != nil:
		return p.errorf("it has both a Next and a Score: one of them says what is drawn")
	case s.Score != nil && s.Output == Steps:
		return p.errorf("a Score needs the output Layers, Together or Apart; in steps, draw with Rand.PickWeighted")
	case s.Over != Individual && (s.Output == Together || s.Output == Apart):
		return p.errorf("outputs Together and Apart are of samplers over single vertices")
	case s.Unique != Repeats && s.Output != Steps && s.Next == nil:
		return p.errorf("Unique is of samplers with Next: edges of a row are drawn without replacement anyhow")
	case s.KeepLoops && (s.Next != nil || s.Over != Individual):
		return p.errorf("KeepLoops is of samplers that draw from single rows without Next")
	case s.Transits == nil && s.Width > 0:
		return p.errorf("Width says how often Transits is called, and there is no Transits")
	case s.Top > 0 != (s.Length > 0):
		return p.errorf("Top and Length go together: the vertices that walks of a length visit most")
	case s.Top > 0 && (s.Next == nil || s.Output != Layers || s.Over != Individual):
		return p.errorf("Top counts the visits of walks: it needs Next and the output Layers")
	}
	return nil
}

// checkRead refuses fields that the sampler's output would ignore.
func (p *Program) checkRead() error {
	s := &p.s
	blocks := s.Output == Layers || s.Output != Steps && s.Next == nil // edges are drawn row by row, without Samples
	switch {
	case s.KeepLoops && s.Output == Steps:
		return p.errorf("KeepLoops is of blocks and subgraphs: steps draw edges to the vertex itself as any other")
	case s.Transits != nil && blocks:
		return p.errorf("Transits says who draws, and in blocks every vertex so far does: it needs the output Steps, or a Next and Together or Apart")
	case s.Roots > 1 && (blocks || s.Output == Apart):
		return p.errorf("Roots is %d, and in blocks every seed draws for itself: several roots need the output Steps, or a Next and Together", s.Roots)
	case s.Most > 0 && blocks:
		return p.errorf("Most bounds the samples of the output Steps, or of a Next and Together or Apart; blocks end with their steps")
	case s.RowNormal && s.EdgeWeight == nil:
		return p.errorf("RowNormal divides weights, and without EdgeWeight edges have none")
	case s.EdgeWeight != nil && s.Top > 0:
		return p.errorf("edges of Top weigh their share of the visits: EdgeWeight has no place there")
	}
	return nil
}

// trace traces Next and Transits.
func (p *Program) trace() (err error) {
	s := &p.s
	next := s.Next
	if next == nil && s.Output == Steps {
		next = func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }
	}
	if next != nil {
		t := &tracer{g: p.g, s: s, method: s.Method}
		p.code, err = t.trace(0, next, func() symbol {
			at := t.emit(opAt, 0)
			if s.Over == Collective {
				at = symbol{set: true, lit: combined}
			}
			return next(Sample{t}, Pool{t, at}, Rand{t}).symbol
		})
		if err != nil {
			return err
		}
		if t.sets != "" && p.manyDraws() {
			return p.errorf("%s: Set by a sampler that draws more than once a sample and step", t.sets)
		}
		if s.Unique != Repeats || p.manyDraws() || s.Output == Layers {
			p.code.pack = 1
		}
	}
	if s.Transits != nil {
		t := &tracer{g: p.g, s: s, method: s.Method}
		p.transits, err = t.trace(maxSites, s.Transits, func() symbol {
			return s.Transits(Sample{t}, Int{t.emit(opSlot, 0)}, Rand{t}).symbol
		})
		if err == nil && t.sets != "" && max(1, s.Width) > 1 {
			return p.errorf("%s: Set by a Transits that is called more than once a sample and step", t.sets)
		}
	}
	return err
}

// manyDraws tells whether samples draw more than once per step.
func (p *Program) manyDraws() bool {
	for _, w := range p.widths[1:] {
		if w > 1 {
			return true
		}
	}
	w := p.s.roots()
	if p.transits != nil || p.s.Transits != nil {
		w = max(1, p.s.Width)
	}
	return w*p.sizes[0] > 1
}

// checkUse checks what Next and Transits read, and builds the tables for it.
func (p *Program) checkUse() error {
	for _, c := range []*code{p.code, p.transits} {
		if c == nil {
			continue
		}
		if err := p.tables.need(p.g, c); err != nil {
			return p.errorf("%w", err)
		}
		for _, x := range c.list {
			switch x.op {
			case opLen:
				p.counts = true
			case opAt:
				if c == p.transits {
					return p.errorf("%s: Transits has no transit yet", x.at)
				}
			}
			if p.s.Output == Layers && p.s.Top == 0 && x.op >= opLen && x.op <= opSet && x.op != opAt && (p.s.Over == Individual || x.op != opLen) {
				return p.errorf("%s: in blocks a vertex draws once for all paths that lead to it: there are no Prev, Root, Len and state", x.at)
			}
		}
	}
	return nil
}

// prepare traces Score and EdgeWeight, and computes the scores.
func (p *Program) prepare() (err error) {
	s := &p.s
	if s.Score != nil {
		t := &tracer{g: p.g, s: s}
		if p.score, err = t.trace(0, s.Score, func() symbol { return s.Score(Edge{t}).symbol }); err != nil {
			return err
		}
	}
	if s.EdgeWeight != nil {
		t := &tracer{g: p.g, s: s, after: true}
		if p.edge, err = t.trace(0, s.EdgeWeight, func() symbol { return s.EdgeWeight(Edge{t}).symbol }); err != nil {
			return err
		}
		if s.Output != Layers {
			return errors.New("sampler " + s.Name + ": EdgeWeight is of blocks: the output must be Layers")
		}
	}
	return p.prepareScores()
}
