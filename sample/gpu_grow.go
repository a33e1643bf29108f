package sample

import "sagann/sample/cuda"

// planGrow plans steps over Collective, which draw from the rows of all transits together: see plan.
func (x *GPU) planGrow() (needs cuda.Needs, err error) {
	p, s := x.p, &x.p.s
	if s.Steps != Unbounded || s.Unique != InSample || s.Most < 1 || p.transits != nil || len(s.State) > 0 || !p.code.picks() {
		return needs, p.errorf("%w: from all transits together a GPU draws without a bound of steps, with Most and Unique: InSample, every edge with equal probability, without Transits and State", ErrNotOnGPU)
	}
	g := &cuda.Grow{Roots: s.roots(), Size: p.sizes[0], Most: max(s.Most, s.roots()), Steps: s.Most}
	for step := 0; step < s.Most && g.Held() <= cuda.MostHeld; step++ {
		if n, err := p.sizeAt(step); err != nil || n != g.Size {
			return needs, p.errorf("%w: it draws %d times at step 1 and %d times at step %d; a GPU draws equally often", ErrNotOnGPU, g.Size, n, step+1)
		}
	}
	if g.Held() > cuda.MostHeld {
		return needs, p.errorf("%w: Most and Size are %d together; a GPU holds %d", ErrNotOnGPU, g.Held(), cuda.MostHeld)
	}
	x.grow = g
	return cuda.Needs{Far: true}, nil
}

// picks tells whether a function is Pick from the rows of all transits together.
func (c *code) picks() bool {
	r := c.list[c.result]
	if r.op != opBelow || r.imm != 0 {
		return false
	}
	d := c.list[r.a]
	return d.op == opDegree && c.list[d.a].op == opLit && c.list[d.a].imm == combined
}

func (x *GPU) growing(roots []uint32, first uint64, key Key, copy bool) (*cuda.Grown, error) {
	k := key.stream()
	g, err := x.on.Grow(x.grow, roots, first, k.k0, k.k1, copy)
	if err != nil {
		return nil, x.p.errorf("%d samples: %w", len(roots)/x.grow.Roots, err)
	}
	return g, nil
}

// grown is Run for samplers that planGrow accepts.
func (x *GPU) grown(s *Samples, roots []uint32, first uint64, key Key) error {
	g, err := x.growing(roots, first, key, true)
	if err != nil {
		return err
	}
	s.Steps, s.Widths = s.Steps[:1], s.Widths[:1:1]
	for i, count := range g.Count {
		for at := x.grow.Roots; at < int(count); at++ {
			n := i*x.grow.Most + at
			step, draw := int(g.Place[n])/x.grow.Size, int(g.Place[n])%x.grow.Size
			for len(s.Steps) <= step+1 {
				list := make([]uint32, s.N*x.grow.Size)
				for j := range list {
					list[j] = NoVertex
				}
				s.Steps, s.Widths = append(s.Steps, list), append(s.Widths, x.grow.Size)
			}
			s.Steps[step+1][i*x.grow.Size+draw] = g.Vertices[n]
		}
	}
	return nil
}
