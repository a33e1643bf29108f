package sample

// SAINT gives the subgraph of all vertices on walks of length steps from the seeds (GraphSAINT's
// random walk sampler: Zeng, Zhou, Srivastava, Kannan and Prasanna, 2020). It does not compute
// GraphSAINT's weights for losses and sums, which correct for vertices that are drawn more often.
func SAINT(length int) Sampler {
	s := DeepWalk(length)
	s.Name, s.Output = "saint", Together
	s.Next = func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }
	return s
}
