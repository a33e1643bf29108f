package sample

// ShaDow gives a subgraph for each seed: the vertices that Neighbours reaches in depth steps with
// fanout edges per vertex, and all edges among them (Zeng et al., "Decoupling the depth and scope of
// graph neural networks", 2021).
func ShaDow(depth, fanout int) Sampler {
	return Sampler{Name: "shadow", Steps: depth, Output: Apart, Size: func(int) int { return fanout }}
}
