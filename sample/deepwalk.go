package sample

// DeepWalk gives random walks of length steps (Perozzi, Al-Rfou and Skiena, 2014). Each step draws
// an in-edge in proportion to its weight and goes to its source; for walks along the direction of
// edges, reverse the edges of the Graph. A walk ends early at a vertex without in-edges.
func DeepWalk(length int) Sampler {
	return Sampler{Name: "deepwalk", Steps: length, Next: func(_ Sample, at Pool, r Rand) Int { return r.PickWeighted(at) }}
}
