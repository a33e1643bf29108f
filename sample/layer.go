package sample

// Layer grows a sample (Gao, Wang and Ji, 2018). Each step draws step edges from the rows, taken
// together, of all vertices that the last step added, each edge with equal probability. It adds
// sources that the sample does not have yet. The sample ends at most vertices, the root included.
func Layer(step, most int) Sampler {
	return Sampler{Name: "layer", Steps: Unbounded, Over: Collective, Unique: InSample, Most: most,
		Size: func(int) int { return step }}
}

// LayerBlocks draws sizes[i] edges at step i from the rows, taken together, of all vertices of a
// level, with replacement and with equal probability. The next level adds the sources of these
// edges, and the block has all edges from these sources into the level.
func LayerBlocks(sizes ...int) Sampler {
	return Sampler{Name: "layer", Steps: len(sizes), Over: Collective, Output: Layers,
		Size: func(step int) int { return sizes[step] },
		Next: func(_ Sample, at Pool, r Rand) Int { return r.Pick(at) }}
}
