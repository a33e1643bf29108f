package sample

// SAINT is the subgraph of all vertices on walks from the seeds (GraphSAINT's random walk
// sampler: Zeng, Zhou, Srivastava, Kannan and Prasanna, 2020). Its weights for the loss and
// for sums, which undo that some vertices are drawn more often, are not computed.
func SAINT(length int) Sampler {
	s := DeepWalk(length)
	s.Name, s.Output = "saint", Together
	s.Next = func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }
	return s
}
