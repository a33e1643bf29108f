package sample

// PPR gives random walks that stop before each step with probability stop, or at a vertex without
// in-edges. Without such vertices, a walk has n steps with probability stop·(1-stop)ⁿ, and the
// distribution of its last vertex is personalised PageRank (Page, Brin, Motwani and Winograd, 1999).
// Steps is Unbounded; set Steps to bound the length.
func PPR(stop float32) Sampler {
	return Sampler{Name: "ppr", Steps: Unbounded, Next: func(_ Sample, at Pool, r Rand) Int {
		if !(stop > 0 && stop <= 1) {
			refuse("the probability to stop is %v: it lies above 0 and up to 1", stop)
		}
		return If(Less(r.Uniform(), Const(stop)), None, r.PickWeighted(at))
	}}
}
