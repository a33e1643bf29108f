package sample

// WeightedNeighbours is Neighbours, but draws in proportion to edge weights: one edge after the
// other, each in proportion among the edges that are left. So the probability that a row includes
// an edge is not in proportion to its weight, and degree over fan-out does not make sums over a row
// unbiased.
func WeightedNeighbours(fanouts ...int) Sampler {
	s := Neighbours(fanouts...)
	s.Name, s.Score = "weighted", func(e Edge) Real { return e.Weight() }
	return s
}
