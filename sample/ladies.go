package sample

// LADIES is FastGCN among the vertices with an edge into the level below: q is in
// proportion to the squared norm of the column of Â in the rows of that level. Weights are
// then divided by the sum of their row (Zou, Hu, Wang, Jiang, Sun and Gu, 2019). Before
// that division sums over a block are on average those over the graph; after it they are
// not, and each row weighs 1. Clear RowNormal to leave it out.
func LADIES(sizes ...int) Sampler {
	s := FastGCN(sizes...)
	s.Name, s.Over, s.RowNormal = "ladies", Collective, true
	return s
}
