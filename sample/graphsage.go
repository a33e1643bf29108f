package sample

// Neighbours draws as many in-edges of each vertex as the fan-outs say, the first for the
// seeds, each edge with equal probability and without replacement (GraphSAGE: Hamilton,
// Ying and Leskovec, 2017). At every step all vertices so far draw.
func Neighbours(fanouts ...int) Sampler {
	return Sampler{Name: "neighbours", Steps: len(fanouts), Output: Layers, Size: func(step int) int { return fanouts[step] }}
}
