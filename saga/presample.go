package saga

import (
	"math"
	"runtime"
	"slices"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
)

// presampled is how many batches are drawn to find the sizes that plans provide memory for. The
// standard error of a mean over 16 batches is a quarter of their standard deviation.
const presampled = 16

// sigmas is how many standard deviations above the mean size plans provide memory for. If sizes are
// normally distributed, one batch in 10⁹ is larger.
const sigmas = 6

// tries is how many batches are drawn for planning. The last batch of an epoch, which may be
// smaller, is not among them.
func (s *sampled) tries() int {
	if s.Clusters != nil {
		return min(presampled, s.drawn())
	}
	return max(1, min(presampled, len(s.draw.items)/s.Batch))
}

// besides is how many batches are drawn concurrently for planning. It is one if ranks ask each other for rows or if
// host memory is bounded. Otherwise it is one per processor, but so few that their tables, which have an entry for
// every vertex, together take no more than an eighth of the memory of the graph's rows.
func (s *sampled) besides(hostMem int64) int {
	if s.draw.far != nil || hostMem > 0 {
		return 1
	}
	const note = 4 // bytes per vertex of the table that drawing a batch needs
	g := s.draw.graph
	return max(1, min(s.tries(), runtime.GOMAXPROCS(0), int(g.Bytes()/8/(note*int64(g.Vertices())))))
}

// presample draws the first batches of the run and sets s.expected, s.spread and s.most.
func (p *Program) presample() error {
	s := p.sampled
	order, err := s.order(p.cfg.Seed, 0)
	if err != nil {
		return err
	}
	batches := make([]drawn, s.besides(p.cfg.HostMem))
	wrong := make([]error, len(batches))
	var rows, edges [][]float64 // by level or block, then batch
	for lo := 0; lo < s.tries(); lo += len(batches) {
		chunk.Each(min(len(batches), s.tries()-lo), func(i int) { wrong[i] = p.draw(&batches[i], order, step{batch: lo + i}) })
		for i := range min(len(batches), s.tries()-lo) {
			b := &batches[i]
			if wrong[i] != nil {
				return wrong[i]
			}
			if backend.Of(p.cfg.Device).GPU() {
				s.filling.came.alone, s.filling.came.of = p.cfg.without("match"), s.tries()
				s.filling.came.add(b.Vertices, p.in.Edges.V)
			}
			if rows == nil {
				rows, edges = make([][]float64, len(b.Counts)), make([][]float64, len(b.Layers))
			}
			for l, n := range b.Counts {
				rows[l] = append(rows[l], float64(n))
			}
			for l := range b.Layers {
				edges[l] = append(edges[l], float64(len(b.Layers[l].Far)))
			}
		}
	}
	for _, x := range rows {
		mean, far := meanAndSpread(x)
		s.expected.Vertices, s.spread.Vertices = append(s.expected.Vertices, int(mean)), append(s.spread.Vertices, int(far))
		s.most.Vertices = append(s.most.Vertices, min(s.mostVertices(), roundRoom(mean+far)))
	}
	if p.dims.taskName() == VertexTask && s.Clusters == nil {
		s.most.Vertices[0] = min(s.Batch, len(s.draw.items))
	}
	for _, x := range edges {
		mean, far := meanAndSpread(x)
		s.expected.Edges, s.spread.Edges = append(s.expected.Edges, int(mean)), append(s.spread.Edges, int(far))
		s.most.Edges = append(s.most.Edges, min(s.mostEdges(), roundRoom(mean+far)))
	}
	if p.dims.paired() {
		s.most.Edges[0] = s.mostPairs(&p.dims)
	}
	s.filling.largest = s.largestOf(&p.dims)
	return nil
}

// fewRows is a number of rows or edges that planning need not spare.
const fewRows = 4096

// largestOf is the sizes of the largest batch that can be drawn, where these are not much more than what was expected, or where
// few batches were drawn to expect it; elsewhere the sizes are s.most. With memory for it no later batch needs more.
func (s *sampled) largestOf(d *dims) dataflow.Sizes {
	x := dataflow.Sizes{Vertices: slices.Clone(s.most.Vertices), Edges: slices.Clone(s.most.Edges)}
	if s.draw.far != nil { // a rank does not know the rows of others
		return x
	}
	widen := func(room *int, most int) {
		if most <= fewRows || most <= 2**room || s.tries() < presampled && most < math.MaxInt32 {
			*room = max(*room, most)
		}
	}
	fanouts, first, rows := s.draw.Most(), 0, s.mostVertices()
	switch {
	case d.paired():
		rows, first = min(rows, 2*s.mostPairs(d)), 1
		widen(&x.Vertices[0], rows)
	case d.taskName() == VertexTask && s.Clusters == nil:
		rows = min(rows, s.Batch, len(s.draw.items))
	}
	for l := first; l < len(x.Edges); l++ {
		widen(&x.Vertices[l], rows)
		edges := s.mostEdges()
		if l-first < len(fanouts) {
			edges = min(edges, rows*fanouts[l-first])
		}
		widen(&x.Edges[l], edges)
		rows = min(s.mostVertices(), rows+min(edges, s.mostVertices()))
	}
	widen(&x.Vertices[len(x.Edges)], rows)
	return x
}

// meanAndSpread is the mean of x, and sigmas times its standard deviation.
func meanAndSpread(x []float64) (mean, far float64) {
	for _, y := range x {
		mean += y / float64(len(x))
	}
	for _, y := range x {
		far += (y - mean) * (y - mean) / float64(max(1, len(x)-1))
	}
	return mean, sigmas * math.Sqrt(far)
}
