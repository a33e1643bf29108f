package sample

// WeightedNeighbours is Neighbours in proportion to edge weights: without replacement an
// edge after the other, each in proportion among those that are left. So inclusion is not
// in proportion to weight, and sums over a row cannot be scaled by degree over fan-out.
func WeightedNeighbours(fanouts ...int) Sampler {
	s := Neighbours(fanouts...)
	s.Name, s.Score = "weighted", func(e Edge) Real { return e.Weight() }
	return s
}
