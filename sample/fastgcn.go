package sample

// FastGCN draws each level from all vertices of the graph (Chen, Ma and Xiao, 2018): k = sizes[i]
// draws at step i, with replacement. The probability q of a vertex is in proportion to the squared
// norm of its column of GCN's normalised adjacency Â. An edge from a vertex that was drawn m times
// has the weight Â·m/(k·q), so the expected sum over a row of the block is the sum over the row of
// the graph. The graph must have the model's self loops. Vertices of a level stay in the next one;
// they have out-edges only if they were drawn.
func FastGCN(sizes ...int) Sampler {
	return Sampler{Name: "fastgcn", Steps: len(sizes), Over: Everywhere, Output: Layers,
		Size:  func(step int) int { return sizes[step] },
		Score: func(e Edge) Real { return Mul(e.Norm(), e.Norm()) },
		EdgeWeight: func(e Edge) Real {
			return Div(Mul(e.Norm(), e.Times()), Mul(e.Draws(), e.Probability()))
		}}
}
