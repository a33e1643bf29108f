package sample

// MultiRW is walks with several roots a sample: a step goes on from one of them, chosen
// with equal probability, to a neighbour, which takes its place. This is the multi-dimensional
// walk as NextDoor has it; Ribeiro and Towsley (2010) and GraphSAINT choose the root in
// proportion to its degree.
func MultiRW(roots, length int) Sampler {
	return Sampler{Name: "multirw", Steps: length, Roots: roots,
		State: []Field{{Name: "roots", Len: max(1, roots), Roots: true}, {Name: "chosen", Len: 1}},
		Transits: func(s Sample, _ Int, r Rand) Int {
			if roots < 1 {
				refuse("%d roots a sample: at least 1", roots)
			}
			i := r.Below(Whole(roots))
			s.Set("chosen", Whole(0), i)
			return s.Get("roots", i)
		},
		Next: func(s Sample, at Pool, r Rand) Int {
			i := r.Pick(at)
			s.Set("roots", s.Get("chosen", Whole(0)), at.Neighbour(i))
			return i
		}}
}
