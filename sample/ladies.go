package sample

// LADIES is FastGCN, but draws only vertices with an edge into the level below: q is in proportion
// to the squared norm of the vertex's column of Â, restricted to the rows of that level (Zou, Hu,
// Wang, Jiang, Sun and Gu, 2019). Then it divides the weights of each row by their sum, so that
// they add up to 1. Sums over rows are unbiased before this division, and biased after it. Set
// RowNormal to false to leave the division out.
func LADIES(sizes ...int) Sampler {
	s := FastGCN(sizes...)
	s.Name, s.Over, s.RowNormal = "ladies", Collective, true
	return s
}
