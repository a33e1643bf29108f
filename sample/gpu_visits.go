package sample

import "sagann/sample/cuda"

// planVisits plans the rows of Sampler.Top: see plan.
func (x *GPU) planVisits() (needs cuda.Needs, err error) {
	p := x.p
	if w := p.plainWalk(); w == nil || w.second != nil {
		return needs, p.errorf("%w: of vertices that walks visit most a GPU draws those of walks that pick an edge, with equal probability or by Alias, and may stop", ErrNotOnGPU)
	}
	f := &cuda.Fanouts{Replace: true, Visits: &cuda.Visits{Functions: p.render(p.code, false), Walks: p.sizes, Length: p.s.Length}}
	for _, walks := range p.sizes {
		if walks > cuda.MostSeen/p.s.Length {
			return needs, p.errorf("%w: %d walks of %d moves; a GPU makes at most %d moves from a vertex", ErrNotOnGPU, walks, p.s.Length, cuda.MostSeen)
		}
		f.Sizes = append(f.Sizes, min(p.s.Top, walks*p.s.Length))
	}
	x.fanouts = f
	return cuda.Needs{Walks: true}, nil
}
