package batches

import (
	"math"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/sample"
)

// Rooms are the sizes of batches: those that were drawn for planning, and those that plans have room for.
type Rooms struct {
	Expected dataflow.Sizes // mean of the batches that were drawn for planning
	Spread   dataflow.Sizes // six standard deviations of their sizes
	Most     dataflow.Sizes // the largest batch that the plan has room for

	d       *Draws
	largest dataflow.Sizes // the largest batch that can come, or Most
	came    arrivals       // on GPUs: how often the row of a vertex came over the link
}

// roomStep is the multiple that room is rounded up to: the sizes of strips and tiles of rows divide it.
const roomStep = 256

func roundRoom(x float64) int { return (int(math.Ceil(x)) + roomStep - 1) / roomStep * roomStep }

// mostVertices is the most vertices that a level can have. With separate subgraphs (sample.Apart) a vertex can be in
// that of every seed, so there is no bound.
func (d *Draws) mostVertices() int {
	if d.Sampler.Output == sample.Apart {
		return math.MaxInt
	}
	return d.graph.Rows.Vertices()
}

// mostEdges is the most edges that a block can have.
func (d *Draws) mostEdges() int {
	s := &d.Sampler
	if s.Replace || s.Top > 0 || s.Over != sample.Individual || s.Output == sample.Apart {
		return math.MaxInt
	}
	if d.far != nil {
		return d.In.EdgeCount()
	}
	return d.graph.Rows.Edges()
}

// Hot lists the n vertices whose rows come over the link most often. Among equals, vertices with more out-edges precede,
// and then those of lower number.
func (r *Rooms) Hot(n int) []uint32 { return mostOften(n, r.came.times, r.d.In.Edges.OutDegrees()) }

// mostPairs is the number of pairs of a full batch; 0 if items are no pairs.
func (d *Draws) mostPairs() int {
	switch n := d.Full(); d.Task {
	case dataset.EdgeLabels:
		return n
	case dataset.LinkLabels:
		return 2 * n
	}
	return 0
}

// Sets is the sizes of sets and cells that plans of l provide memory for.
func (r *Rooms) Sets(l *dataflow.Lowered) *plan.Sets {
	z := &plan.Sets{Rows: append([]int{0}, r.Most.Vertices...), Edges: append([]int{0}, r.Most.Edges...), Cells: make([][2]int64, len(r.Most.Edges)+1)}
	for e, dirs := range walks(l) {
		for d, used := range dirs {
			if !used {
				continue
			}
			own := z.Rows[e]
			if plan.Dir(d) == plan.CSR {
				own = z.Rows[e+1]
			}
			z.Cells[e][d] = chunk.CellSize(own, own, int64(z.Edges[e]), l.Want.Of(0), r.d.dataCols(), 0)
		}
	}
	return z
}

// walks tells which cells l reads, by edge set and direction.
func walks(l *dataflow.Lowered) [][2]bool {
	var list [][2]bool
	for _, ph := range l.Spec.Phases {
		for _, st := range ph.Steps {
			if st.Kind == plan.Stream {
				for len(list) <= int(st.Set) {
					list = append(list, [2]bool{})
				}
				list[st.Set][st.Dir] = true
			}
		}
	}
	return list
}

// Widen makes room for a batch with these numbers of vertices and edges, and a sixteenth more: a later batch may
// be larger still.
func (r *Rooms) Widen(vertices, edges []int) {
	grow := func(room *int, n, most int) {
		if n > *room {
			*room = min(most, roundRoom(float64(n)*17/16))
		}
	}
	for l, n := range vertices {
		grow(&r.Most.Vertices[l], n, r.d.mostVertices())
	}
	for l, n := range edges {
		grow(&r.Most.Edges[l], n, r.d.mostEdges())
	}
}

// Largest makes room for the largest batch that can be drawn, where that is not much more than what was expected.
func (r *Rooms) Largest() {
	larger := func(a, b []int) (list []int) {
		for i := range a {
			list = append(list, max(a[i], b[i]))
		}
		return list
	}
	r.Most = dataflow.Sizes{Vertices: larger(r.largest.Vertices, r.Most.Vertices), Edges: larger(r.largest.Edges, r.Most.Edges)}
}

// fewRows is a number of rows or edges that planning need not spare.
const fewRows = 4096

// findLargest sets r.largest to the sizes of the largest batch that can be drawn, where these are not much more than what was
// expected, or where few batches were drawn to expect it; elsewhere the sizes are r.Most. With memory for it no later batch needs more.
func (r *Rooms) findLargest() {
	d := r.d
	x := dataflow.Sizes{Vertices: slices.Clone(r.Most.Vertices), Edges: slices.Clone(r.Most.Edges)}
	defer func() { r.largest = x }()
	if d.far != nil { // a rank does not know the rows of others
		return
	}
	widen := func(room *int, most int) {
		if most <= fewRows || most <= 2*(*room) || d.Tries() < presampled && most < math.MaxInt32 {
			*room = max(*room, most)
		}
	}
	fanouts, first, rows := d.program.Most(), 0, d.mostVertices()
	switch {
	case d.paired():
		rows, first = min(rows, 2*d.mostPairs()), 1
		widen(&x.Vertices[0], rows)
	case d.Task == dataset.VertexLabels && d.kind.exact():
		rows = min(rows, d.Full())
	}
	for l := first; l < len(x.Edges); l++ {
		widen(&x.Vertices[l], rows)
		edges := d.mostEdges()
		if l-first < len(fanouts) {
			edges = min(edges, rows*fanouts[l-first])
		}
		widen(&x.Edges[l], edges)
		rows = min(d.mostVertices(), rows+min(edges, d.mostVertices()-rows))
	}
	widen(&x.Vertices[len(x.Edges)], rows)
}
