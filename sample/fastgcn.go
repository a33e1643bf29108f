package sample

// FastGCN draws each level from all vertices, k times with replacement and with
// probability q in proportion to the squared norm of their column of GCN's adjacency Â
// (Chen, Ma and Xiao, 2018). An edge from a vertex that was drawn m times weighs Â·m/(k·q),
// so that a sum over a block is on average that over the graph. The graph must have the
// model's self loops. Vertices of the level below stay in the next one, without edges if
// they were not drawn.
func FastGCN(sizes ...int) Sampler {
	return Sampler{Name: "fastgcn", Steps: len(sizes), Over: Everywhere, Output: Layers,
		Size:  func(step int) int { return sizes[step] },
		Score: func(e Edge) Real { return Mul(e.Norm(), e.Norm()) },
		EdgeWeight: func(e Edge) Real {
			return Div(Mul(e.Norm(), e.Times()), Mul(e.Draws(), e.Probability()))
		}}
}
