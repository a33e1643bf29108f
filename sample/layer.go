package sample

// Layer grows a sample: each step draws edges of all vertices that the last step added
// together, each edge with equal probability, and adds vertices that the sample does not
// have, until it has most vertices, the root counted (Gao, Wang and Ji, 2018).
func Layer(step, most int) Sampler {
	return Sampler{Name: "layer", Steps: Unbounded, Over: Collective, Unique: InSample, Most: most,
		Size: func(int) int { return step }}
}

// LayerBlocks draws the sizes' number of edges of all vertices of a level together, with
// replacement and each edge with equal probability. The next level has their far ends,
// and the block all edges from these.
func LayerBlocks(sizes ...int) Sampler {
	return Sampler{Name: "layer", Steps: len(sizes), Over: Collective, Output: Layers,
		Size: func(step int) int { return sizes[step] },
		Next: func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }}
}
