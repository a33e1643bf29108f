package sample

// MultiRW gives multi-dimensional random walks, with several roots per sample. A step chooses one of
// the roots with equal probability, goes on to a neighbour of it in proportion to the weight of the
// edge, and replaces the root by this neighbour. NextDoor, which has no weights, does the same; Ribeiro
// and Towsley (2010) and GraphSAINT choose the root in proportion to its degree.
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
			i := r.PickWeighted(at)
			s.Set("roots", s.Get("chosen", Whole(0)), at.Neighbour(i))
			return i
		}}
}
