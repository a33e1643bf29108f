// Package sample draws samples of a graph: neighbourhoods for training in mini-batches, walks, and
// the samples of any sampler that is written in Go.
//
//	g, err := sample.NewGraph(edges)
//	p, err := sample.Compile(g, sample.Neighbours(15, 10, 5))
//	var b sample.Blocks
//	err = p.Blocks(&b, seeds, sample.Key{Seed: 1, Batch: 7})
//
// A draw depends only on the seed and on its place (see Key), never on the number of threads, the
// order of batches or the size of memory. Vertices and edges keep the ids of the user's data. The
// row of a vertex lists its in-edges, sorted by far end, then by edge number. The far end of an
// in-edge is its source. A draw chooses a place (an index) in a row. Run uses up to
// runtime.GOMAXPROCS goroutines.
//
// Edges are those of package sagann/chunk: edge k points from Src[k] to Dst[k]. A ring of
// ten vertices:
//
//	e := &chunk.Edges{V: 10}
//	for v := range uint32(10) {
//		e.Src, e.Dst = append(e.Src, v), append(e.Dst, (v+1)%10)
//	}
//	g, err := sample.NewGraph(e)
//
// # A sampler of your own
//
// A walk that ends with probability 0.1 at every step:
//
//	walk := sample.Sampler{
//		Name: "walk", Steps: 20,
//		Next: func(s sample.Sample, at sample.Pool, r sample.Rand) sample.Int {
//			stop := sample.Less(r.Uniform(), sample.Const(0.1))
//			return sample.If(stop, sample.None, r.Pick(at))
//		},
//	}
//
// Compile makes it ready for a graph, and Run draws, here from a hundred roots:
//
//	p, err := sample.Compile(g, walk)
//	key := sample.Key{Seed: 1}
//	var s sample.Samples
//	err = p.Run(&s, p.Roots(100, 0, key), 0, key)
//	vertices := s.Vertices(nil, 7) // of walk 7, its root first
//
// A row lists in-edges, so walks go against the direction of edges. For walks along the direction
// of edges, build the graph from edges.Reverse().
//
// A sampler's functions run once, in Compile, on symbols (Int, Real and Bool). The traced code
// then runs for every sample. So Go's if, random numbers and variables act once, for all samples:
// choose with If, draw with Rand, keep state in State. A symbol belongs to the function that made
// it; Compile refuses the symbol in another function. Both sides of an If are computed, so a
// Reject must end even on the side that is not taken.
//
// A transit is a vertex that draws: a step draws edges from its row. Next returns a place in the
// row of the transit, from 0 to Degree-1, and not a vertex. If Next returns None, the draw adds no
// vertex. If Transits is nil, only the vertices that the last step added draw again, so a walk
// ends when its Next returns None. A walk that stays at its vertex for a step must keep the vertex
// in State and return it from Transits. With Output: Layers the seeds and all vertices drawn so
// far draw at each step. If Next draws an edge twice, the block has it twice, as parallel edges.
//
// To draw from the row of another vertex, return that vertex from Transits. A walk that begins
// again at its root with probability 0.2 at every step:
//
//	Transits: func(s sample.Sample, _ sample.Int, r sample.Rand) sample.Int {
//		return sample.If(sample.Less(r.Uniform(), sample.Const(0.2)), s.Root(sample.Whole(0)), s.Prev(1))
//	},
//
// State declares numbers that each sample keeps for itself. With
// State: []sample.Field{{Name: "moves", Len: 1}}, this Next ends each walk after five moves:
//
//	zero := sample.Whole(0)
//	n := s.Get("moves", zero)
//	s.Set("moves", zero, sample.Add(n, sample.Whole(1)))
//	return sample.If(sample.Less(n, sample.Whole(5)), r.Pick(at), sample.None)
//
// Blocks without Next draw edges in proportion to Score, or with equal probability if there is no
// Score. The far end of an edge is Source(). This sampler draws vertices with many in-edges more
// often:
//
//	hubs := sample.Sampler{Name: "hubs", Steps: 1, Output: sample.Layers,
//		Size:  func(step int) int { return 5 },
//		Score: func(e sample.Edge) sample.Real { return sample.ToReal(e.Row(e.Source()).Degree()) },
//	}
//
// A Score, an EdgeWeight and a Next can read weights, times and numbers of edges (Edge.Time, Edge.Number, Pool.Time,
// Pool.Number). NewPast draws only edges up to the time of a seed.
package sample

// For contributors: the files of the package.
//
//	sampler.go symbol.go edge.go pool.go   what users write
//	philox.go graph.go times.go tables.go  random words; sorted rows, also by time; tables of weights
//	trace.go code.go compile.go            functions become code, run once on symbols
//	reference.go                           the slow interpreter that all else must equal
//	run.go frame.go strip.go stripops.go   drawing, many samples at a time
//	plain.go second.go                     walks of simple functions, and of second order
//	past.go                                blocks of edges up to a time
//	blocks.go add.go collective.go visits.go induced.go filter.go race.go   blocks, and what their draws need
//	neighbours.go weighted.go layer.go fastgcn.go ladies.go mvs.go clustergcn.go saint.go shadow.go
//	deepwalk.go ppr.go node2vec.go multirw.go pinsage.go   a sampler each
//	parse.go digest.go                     samplers as text; what samples depend on
//	partition.go skipgram.go               clusters; vectors learned from walks
//	graphsage.go twohop.go                 embeddings over sampled trees
//	render.go render_ops.go gpu.go gpu_*.go gpus.go   the same on GPUs, over package sample/cuda
