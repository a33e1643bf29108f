package batches

import (
	"math"
	"runtime"

	"sagann/chunk"
	"sagann/dataset"
)

// sigmas is how many standard deviations above the mean size plans provide memory for. If sizes are
// normally distributed, one batch in 10⁹ is larger.
const sigmas = 6

// besides is how many batches are drawn concurrently for planning. It is one if ranks ask each other for rows or if
// host memory is bounded. Otherwise it is one per processor, but so few that their tables, which have an entry for
// every vertex, together take no more than an eighth of the memory of the graph's rows.
func (d *Draws) besides() int {
	if d.far != nil || d.HostMem > 0 {
		return 1
	}
	const note = 4 // bytes per vertex of the table that drawing a batch needs
	vertices := int64(0)
	for t := range d.types() {
		vertices += int64(d.vertices(t))
	}
	return max(1, min(d.Tries(), runtime.GOMAXPROCS(0), int(d.graph.Bytes()/8/(note*vertices))))
}

// Presample draws the first batches of the run and returns their sizes.
func (d *Draws) Presample() (*Rooms, error) {
	r := &Rooms{d: d}
	order, err := d.Order(0)
	if err != nil {
		return nil, err
	}
	batches := make([]blocks, d.besides())
	wrong := make([]error, len(batches))
	var rows, edges [][]float64 // by level or block, then batch
	for lo := 0; lo < d.Tries(); lo += len(batches) {
		chunk.Each(min(len(batches), d.Tries()-lo), func(i int) { wrong[i] = d.draw(&batches[i], order, Place{Batch: lo + i}) })
		for i := range min(len(batches), d.Tries()-lo) {
			b := &batches[i]
			if wrong[i] != nil {
				return nil, wrong[i]
			}
			if d.GPU && d.Kinds == nil {
				r.came.alone, r.came.of = d.Without("match"), d.Tries()
				r.came.add(b.Vertices, d.In.Edges.V)
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
	r.Expected.Numbers, r.Spread.Numbers, r.Most.Numbers = d.Numbers(), d.Numbers(), d.Numbers()
	for i, x := range rows {
		mean, far := meanAndSpread(x)
		r.Expected.Vertices, r.Spread.Vertices = append(r.Expected.Vertices, int(mean)), append(r.Spread.Vertices, int(far))
		r.Most.Vertices = append(r.Most.Vertices, min(d.mostVertices(i+1), roundRoom(mean+far)))
	}
	if d.Task == dataset.VertexLabels && d.kind.exact() {
		r.Most.Vertices[d.target()] = d.Full()
	}
	for i, x := range edges {
		mean, far := meanAndSpread(x)
		r.Expected.Edges, r.Spread.Edges = append(r.Expected.Edges, int(mean)), append(r.Spread.Edges, int(far))
		r.Most.Edges = append(r.Most.Edges, min(d.mostEdges(i+1), roundRoom(mean+far)))
	}
	if d.paired() {
		r.Most.Edges[d.pairs()-1] = d.mostPairs()
	}
	r.findLargest()
	return r, nil
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
