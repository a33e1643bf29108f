package sample

// PinSAGE draws for each vertex the top vertices that walks from it visit most, and weighs
// each by its share of their visits (Ying, He, Chen, Eksombatchai, Hamilton and Leskovec,
// 2018). The vertex itself does not count; of vertices with equal visits the lower ids are taken.
// Rows of blocks are in the order of ids, and their edges have no numbers.
func PinSAGE(levels, walks, length, top int) Sampler {
	return Sampler{Name: "pinsage", Steps: levels, Output: Layers, Length: length, Top: top,
		Size: func(int) int { return walks },
		Next: func(_ Sample, at Pool, r Rand) Int { return r.PickWeighted(at) }}
}
