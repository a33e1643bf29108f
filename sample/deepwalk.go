package sample

// DeepWalk is walks of a length, each step along an edge in proportion to its weight; of
// a Graph made of reversed edges it walks along edges as they point (Perozzi, Al-Rfou and
// Skiena, 2014). A walk ends early at a vertex without edges.
func DeepWalk(length int) Sampler {
	return Sampler{Name: "deepwalk", Steps: length, Next: func(_ Sample, at Pool, r Rand) Int { return r.PickWeighted(at) }}
}
