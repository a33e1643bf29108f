package sample

// Neighbours draws in-edges of each vertex, with equal probability and without replacement
// (GraphSAGE: Hamilton, Ying and Leskovec, 2017). fanouts[i] is the number of edges per vertex at
// step i. At every step the seeds and all vertices drawn so far draw.
func Neighbours(fanouts ...int) Sampler {
	return Sampler{Name: "neighbours", Steps: len(fanouts), Output: Layers, Size: func(step int) int { return fanouts[step] }}
}
