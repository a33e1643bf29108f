package sample

// PinSAGE takes for each vertex the top vertices that walks from it visit most; the weight of each is
// its share of the visits to them (Ying, He, Chen, Eksombatchai, Hamilton and Leskovec, 2018). Each
// vertex starts walks walks of length steps. Visits to the start vertex do not count. If visits are
// equal, the lower ids are taken. Rows of blocks are sorted by id, and their edges have no numbers.
func PinSAGE(levels, walks, length, top int) Sampler {
	return Sampler{Name: "pinsage", Steps: levels, Output: Layers, Length: length, Top: top,
		Size: func(int) int { return walks },
		Next: func(_ Sample, at Pool, r Rand) Int { return r.PickWeighted(at) }}
}
