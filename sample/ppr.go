package sample

// PPR is walks that stop before each step with a probability: one has n steps with
// probability stop·(1-stop)ⁿ, and its last vertex is drawn by personalised PageRank (Page,
// Brin, Motwani and Winograd, 1999). Steps are unbounded; set Steps to cut walks.
func PPR(stop float32) Sampler {
	return Sampler{Name: "ppr", Steps: Unbounded, Next: func(_ Sample, at Pool, r Rand) Int {
		if !(stop > 0 && stop <= 1) {
			refuse("the probability to stop is %v: it lies above 0 and up to 1", stop)
		}
		return If(Less(r.Uniform(), Const(stop)), None, r.PickWeighted(at))
	}}
}
